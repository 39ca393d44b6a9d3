// metal-inspect@1: a ready machine boots the platform ramdisk, which shows that it is still the one
// of the manifest and that its GPUs are well. The node keeps ready, and its evidence stays what it
// was: an inspection erases nothing and clears nothing.
#pragma once

#include "agent/engine/workflow.h"
#include "agent/tools.h"

namespace leasehold {

// `tools` outlives the workflow.
Workflow inspect_workflow(const Tools& tools);

}  // namespace leasehold
