// The end of an inspection: what the ramdisk of a ready machine showed is recorded, under platform
// trust; the node stays ready behind the evidence that it has. Runs on a step's thread.
#pragma once

#include "agent/steps/support.h"

namespace leasehold {

// STOPPED if the node was quarantined meanwhile.
StepOutcome record_inspection(const Tools& tools, StepContext& context);
Result<Done> inspected_rows(const Tools& tools, StepContext& context);

}  // namespace leasehold
