// metal.fenceTenant: from this commit on no certificate of the lessee is accepted for the node, its
// open join tokens are burned and its sessions closed. Only rows change. Runs on a step's thread.
#pragma once

#include "agent/steps/support.h"

namespace leasehold {

StepOutcome fence_tenant(const Tools& tools, StepContext& context);

}  // namespace leasehold
