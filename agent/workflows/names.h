// The names under which runs are journalled. A name is never reused for another table of steps: a
// changed table gets the next version, and old runs finish with the old one.
#pragma once

namespace leasehold {

inline constexpr const char* kReleaseWorkflow = "metal-tenant-root-release@1";
inline constexpr const char* kParkWorkflow = "metal-park@1";
inline constexpr const char* kEnrolWorkflow = "metal-enrol@1";
inline constexpr const char* kInspectWorkflow = "metal-inspect@1";

// How a workflow's node stands when it begins (Workflow::begins_with).
inline constexpr const char* kBeginsLeased = "leased";        // releasing, a tenant's
inline constexpr const char* kBeginsExited = "exited";        // releasing, past its exit
inline constexpr const char* kBeginsEnrolling = "enrolling";  // nobody's, its evidence to be made
inline constexpr const char* kBeginsReady = "ready";

// The places whose output is read by later ones. The first pins the policy of its pass.
inline constexpr const char* kRamdiskOpenPlace = "metal.ensureRamdisk/open";
inline constexpr const char* kInventoryPlace = "metal.ensureRamdisk/inventory";
inline constexpr const char* kGreetPlace = "bmc.serviceRoot";
inline constexpr const char* kLookPlace = "bmc.look";
inline constexpr const char* kFirstOffPlace = "power.setPower/off";

}  // namespace leasehold
