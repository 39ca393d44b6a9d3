// Every workflow of this agent, for the engine and for the tests of the four laws.
#pragma once

#include <vector>

#include "agent/engine/workflow.h"
#include "agent/tools.h"

namespace leasehold {

// `tools` outlives the workflows.
std::vector<Workflow> all_workflows(const Tools& tools);

}  // namespace leasehold
