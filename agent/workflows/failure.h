// Law fail-closed: what any failure of a run leaves of its node. Also for runs whose workflow this
// agent does not know. Committed with the journal's record of the failure; values only, on a step's
// thread.
#pragma once

#include "agent/engine/workflow.h"
#include "agent/tools.h"

namespace leasehold {

Done failure_rows(const Tools& tools, const StepContext& context, const Error& error);

}  // namespace leasehold
