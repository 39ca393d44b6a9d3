// metal.rotateBmcCredential: the lessee may have learned the BMC's password. Two places: the new
// password is sealed and durable before it is sent; then it is sent, and the outcome is found out
// by trying, new first, never by the status code (quirks A10 to A12). Law credential-kept. Runs on
// a step's thread.
#pragma once

#include "agent/steps/support.h"

namespace leasehold {

StepOutcome rotate_seal(const Tools& tools, StepContext& context);
// ROTATION_REFUSED: the BMC said no, and the old one works. ROTATION_SPLIT: it is not known which
// opens the BMC, or more than one does; all versions are kept.
StepOutcome rotate_apply(const Tools& tools, StepContext& context);
// bmc.sweep, as far as generic Redfish goes: every account but ours and the profile's is closed,
// then every session but ours is deleted (quirks A4, A8). BMC_ACCOUNT_LEFT if that cannot be shown.
StepOutcome sweep_sessions(const Tools& tools, StepContext& context);

// What a failed rotation leaves in the vault: refused means that the pending version is tried last
// from now on.
std::vector<RowChange> rotation_failure_rows(const StepContext& context, Code code);

}  // namespace leasehold
