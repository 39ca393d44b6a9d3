#include "agent/workflows/all.h"

#include "agent/workflows/enrol.h"
#include "agent/workflows/inspect.h"
#include "agent/workflows/places.h"
#include "agent/workflows/release.h"

namespace leasehold {

std::vector<Workflow> all_workflows(const Tools& tools) {
  std::vector<Workflow> all = {enrol_workflow(tools), inspect_workflow(tools),
                               release_workflow(tools), park_workflow(tools)};
  for (Workflow& workflow : all) check_beginning(workflow);
  return all;
}

}  // namespace leasehold
