// Who is there, before anything is changed: the BMC is greeted without a credential and its
// certificate pinned, then logged in to once, and what it says of its machine compared with every
// other node's hardware (hardware_history.h, in the transaction of these rows). Runs on a step's
// thread.
#pragma once

#include "agent/steps/support.h"

namespace leasehold {

// bmc.serviceRoot: Done{output {"redfishVersion","vendor","product","tlsPinFrom"}}, the pin in the
// node's row. BMC_UNREACHABLE.
StepOutcome greet_bmc(const Tools& tools, StepContext& context);
// bmc.look: the one login with a password that nobody has tried. CREDENTIAL_REFUSED.
StepOutcome look_at_machine(const Tools& tools, StepContext& context);
// bmc.probe: the driver with its reason, the claims and the boot MAC. HARDWARE_MISMATCH.
StepOutcome probe_driver(const Tools& tools, StepContext& context);

}  // namespace leasehold
