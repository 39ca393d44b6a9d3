// power.setPower off: ForceOff until the BMC has read Off three times. Success is the reading,
// never the status code of the Reset. Runs on a step's thread.
#pragma once

#include "agent/steps/support.h"

namespace leasehold {

// Done{output {"state": "Off"}}, POWER_NOT_OFF. `clears_debt`: with the reading, the node's owed
// power-off is paid (step 1 of a recover).
StepOutcome power_off(const Tools& tools, StepContext& context, bool clears_debt);

}  // namespace leasehold
