// metal.firmwareCheck: every component of the pool's baseline must report exactly the baseline's
// version. Absent, empty, contradictory or from an incomplete inventory is unknown, and unknown
// fails. Runs on a step's thread.
#pragma once

#include "agent/steps/support.h"

namespace leasehold {

// Done{output {"found","listed"}}; FIRMWARE_DRIFT or FIRMWARE_UNKNOWN listing each component,
// INVALID_CONFIG without a baseline.
StepOutcome firmware_check(const Tools& tools, StepContext& context);

}  // namespace leasehold
