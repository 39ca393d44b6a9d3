// The closed list of codes. An Error carries one of them; the API and the journal show its name.
// Two families: codes of calls (what went wrong between two pieces of code or over an API) and
// failure codes of a run (what an operator finds on a quarantined machine). Each has one line that
// says what to do next. Adding a code means adding its line here, nothing else.
#pragma once

#include <optional>
#include <string_view>

namespace leasehold {

// X(enumerator, NAME, what an operator does next)
#define LEASEHOLD_CALL_CODES(X)                                                                   \
  X(kInvalidInput, "INVALID_INPUT", "Correct the named field and send it again.")                 \
  X(kNotFound, "NOT_FOUND", "Check the name; list what exists first.")                            \
  X(kConflict, "CONFLICT", "The state has changed meanwhile: look again, then decide.")           \
  X(kForbidden, "FORBIDDEN", "This identity may not do that; use one that may.")                  \
  X(kUnauthenticated, "UNAUTHENTICATED", "Present a valid certificate or credential.")            \
  X(kTenantControlled, "tenant-controlled",                                                       \
    "The machine is under a tenant's control: only its teardown may touch it.")                   \
  X(kCredentialRefused, "CREDENTIAL_REFUSED", "The BMC refused the credential; do not retry it.") \
  X(kUnavailable, "UNAVAILABLE", "The other side is not reachable now; it is tried again.")       \
  X(kTimeout, "TIMEOUT", "The other side did not answer in time; it is tried again.")             \
  X(kTooLarge, "TOO_LARGE", "The message is over its limit; send less.")                          \
  X(kMalformed, "MALFORMED", "The other side sent what cannot be parsed; see the message.")       \
  X(kRefused, "REFUSED", "The other side understood and said no; see the message.")               \
  X(kUnsupported, "UNSUPPORTED", "This machine or program cannot do that.")                       \
  X(kEvidenceRefused, "EVIDENCE_REFUSED", "The evidence does not hold; its reason says why.")     \
  X(kStopped, "STOPPED", "The run was asked to stop and stopped at a step boundary.")             \
  X(kIo, "IO", "Check the disk: space, permissions and health of the named path.")                \
  X(kDatabase, "DATABASE",                                                                        \
    "Check the database file named in the message; restore it from a backup if it is damaged.")   \
  X(kConfig, "CONFIG", "Correct the configuration file named in the message.")                    \
  X(kSuperseded, "SUPERSEDED",                                                                    \
    "A newer agent of this site is at work: stop this one, or give its box a site join of its "   \
    "own.")                                                                                       \
  X(kAuthorityOver, "AUTHORITY_OVER",                                                             \
    "The site has not heard from its coordinator for too long: reconnect it, then ask again.")

#define LEASEHOLD_RUN_CODES(X)                                                                     \
  X(kPowerNotOff, "POWER_NOT_OFF",                                                                 \
    "The BMC accepts Off but the host stays On: cut its power by hand, then recover.")             \
  X(kPowerNotOn, "POWER_NOT_ON", "The host does not power on: check its supply, then recover.")    \
  X(kRotationRefused, "ROTATION_REFUSED",                                                          \
    "The BMC refused the new password; the old one is current. Check its policy, then recover.")   \
  X(kRotationSplit, "ROTATION_SPLIT",                                                              \
    "It is unknown which password opens the BMC; both are kept. Recover tries each in turn.")      \
  X(kBmcAccountLeft, "BMC_ACCOUNT_LEFT",                                                           \
    "The BMC keeps or hides an account that is not ours: remove it by hand, then recover.")        \
  X(kRamdiskNoCallHome, "RAMDISK_NO_CALL_HOME",                                                    \
    "The platform ramdisk did not call home: check boot order, NIC and cable, then recover.")      \
  X(kRamdiskLost, "RAMDISK_LOST",                                                                  \
    "The ramdisk stopped answering in the middle of its work: check the machine, then recover.")   \
  X(kBootClaimedTwice, "BOOT_CLAIMED_TWICE",                                                       \
    "Two machines claimed one boot: somebody else is on the provisioning network. Look for it.")   \
  X(kWipeUnverified, "WIPE_UNVERIFIED",                                                            \
    "A disk was not shown to be erased: replace it (never lease it), then recover.")               \
  X(kDiagFailed, "DIAG_FAILED", "A GPU is missing or failed its diagnosis: repair, then recover.") \
  X(kFirmwareDrift, "FIRMWARE_DRIFT",                                                              \
    "Firmware differs from the pool's baseline: rewrite the listed components, then recover.")     \
  X(kFirmwareUnknown, "FIRMWARE_UNKNOWN",                                                          \
    "A component of the baseline does not report its version: check the BMC, then recover.")       \
  X(kInvalidConfig, "INVALID_CONFIG",                                                              \
    "The pool lacks what the teardown needs (see the message): correct it, then recover.")         \
  X(kBmcUnreachable, "BMC_UNREACHABLE",                                                            \
    "No BMC answers there, or another certificate than expected: check address, cable and pin.")   \
  X(kHardwareMismatch, "HARDWARE_MISMATCH",                                                        \
    "The machine is not what the pool's hardware profile says: correct one of them, then "         \
    "recover.")                                                                                    \
  X(kMachineKnown, "MACHINE_KNOWN",                                                                \
    "This hardware is another node of the site already: recover or release that one instead.")     \
  X(kUnknownWorkflow, "UNKNOWN_WORKFLOW",                                                          \
    "This version of the agent does not know the run's workflow: install the one that does.")      \
  X(kPoisoned, "POISONED",                                                                         \
    "The run's step crashed the agent three times: report it with the log, then recover.")         \
  X(kRestored, "RESTORED",                                                                         \
    "The site's database was restored during this run: what it did since is unknown. Recover.")    \
  X(kQuarantined, "QUARANTINED",                                                                   \
    "Somebody took it out of use: see who and why in the work's reason, then recover.")            \
  X(kInternal, "INTERNAL", "A check inside a step failed: report it with the log, then recover.")

enum class Code {
#define LEASEHOLD_ENUM(enumerator, name, next) enumerator,
  LEASEHOLD_CALL_CODES(LEASEHOLD_ENUM) LEASEHOLD_RUN_CODES(LEASEHOLD_ENUM)
#undef LEASEHOLD_ENUM
};

std::string_view code_name(Code code);
// The one line that tells an operator what to do next.
std::string_view code_next(Code code);
std::optional<Code> code_from_name(std::string_view name);
bool is_run_code(Code code);

}  // namespace leasehold
