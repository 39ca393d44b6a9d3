// Taking over the factory credential: the release's rotation, for a password that a person gave and
// nobody has tried. A node that is enrolled again after it was ready has the site's own credential
// already: then there is nothing to do. Runs on a step's thread.
#pragma once

#include "agent/steps/support.h"

namespace leasehold {

// The node failed while it was ready: its enrolment begins at the ramdisk.
bool has_own_credential(const NodeRow& node);
Done nothing_to_take_over();

StepOutcome take_over_seal(const Tools& tools, StepContext& context);
StepOutcome take_over_apply(const Tools& tools, StepContext& context);
StepOutcome take_over_sweep(const Tools& tools, StepContext& context);

// What a refused first login leaves in the vault: a given password that the BMC refused is not sent
// again, by whatever (quirk A9).
std::vector<RowChange> refused_login_rows(const StepContext& context, Code code);

}  // namespace leasehold
