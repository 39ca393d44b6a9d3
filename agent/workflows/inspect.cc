#include "agent/workflows/inspect.h"

#include "agent/steps/inspect.h"
#include "agent/workflows/names.h"
#include "agent/workflows/places.h"

namespace leasehold {

Workflow inspect_workflow(const Tools& tools) {
  Workflow workflow = parking(tools, kInspectWorkflow, kBeginsReady, boot_clean_up);
  std::vector<Place>& places = workflow.places;
  places.push_back(power_off_place(tools, "1", kFirstOffPlace, false));
  add_ramdisk(places, tools, "2", inventory_command(Code::kHardwareMismatch));
  add_command(places, tools, "3", "diag.dcgm", "diag.dcgm", diagnosis_command());
  places.push_back(
      place(tools, "4", "inspect.record", "inspect.record", kMinute, record_inspection));
  places.push_back(power_off_place(tools, "5", "power.setPower/park", false));
  finish_ramdisk(places, tools);
  workflow.succeed = [&tools](StepContext& context) { return inspected_rows(tools, context); };
  return workflow;
}

}  // namespace leasehold
