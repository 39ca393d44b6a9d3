// The names under which runs are journalled. A name is never reused for another table of steps: a
// changed table gets the next version, and old runs finish with the old one.
#pragma once

namespace leasehold {

inline constexpr const char* kReleaseWorkflow = "metal-tenant-root-release@1";
inline constexpr const char* kParkWorkflow = "metal-park@1";

// The place whose output is read by later ones: it pins the policy of its pass.
inline constexpr const char* kRamdiskOpenPlace = "metal.ensureRamdisk/open";

}  // namespace leasehold
