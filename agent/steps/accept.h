// The end of an enrolment: enrol.accept asks the verifier for its word on the evidence that this
// run has signed, and names the run in the node's row (law no-dirty-ready); `ready` is written
// behind the same verifier once the machine is parked. Runs on a step's thread.
#pragma once

#include "agent/steps/support.h"

namespace leasehold {

StepOutcome accept_machine(const Tools& tools, StepContext& context);

// boot.cleanUp of a run that may have ended before it knew what it would boot.
StepOutcome enrol_clean_up(const Tools& tools, StepContext& context);

}  // namespace leasehold
