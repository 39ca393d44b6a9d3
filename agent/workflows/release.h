// metal-tenant-root-release@1, the teardown as a runbook, and metal-park@1, which repeats the
// parking of a machine whose exit has committed. The spec's step numbers are the groups of the
// places.
#pragma once

#include "agent/engine/workflow.h"
#include "agent/tools.h"

namespace leasehold {

// `tools` outlives the workflow.
Workflow release_workflow(const Tools& tools);
Workflow park_workflow(const Tools& tools);

}  // namespace leasehold
