// metal-enrol@1, first form: a machine from its box becomes ready, behind evidence like a
// release's. The same table for a node that failed while ready (a quarantine, a refused clearance,
// a failed inspection): its credential is the site's own, so the places before the ramdisk have
// nothing to do.
#pragma once

#include "agent/engine/workflow.h"
#include "agent/tools.h"

namespace leasehold {

// `tools` outlives the workflow.
Workflow enrol_workflow(const Tools& tools);

}  // namespace leasehold
