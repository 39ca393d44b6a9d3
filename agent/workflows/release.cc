#include "agent/workflows/release.h"

#include "agent/steps/evidence.h"
#include "agent/steps/fence.h"
#include "agent/steps/firmware_check.h"
#include "agent/steps/rotate.h"
#include "agent/workflows/names.h"
#include "agent/workflows/places.h"

namespace leasehold {

Workflow release_workflow(const Tools& tools) {
  Workflow workflow = parking(tools, kReleaseWorkflow, kBeginsLeased, boot_clean_up);
  std::vector<Place>& places = workflow.places;
  places.push_back(power_off_place(tools, "1", kFirstOffPlace, true));
  places.push_back(
      place(tools, "2", "metal.fenceTenant", "metal.fenceTenant", kMinute, fence_tenant));
  places.push_back(place(tools, "3", "metal.rotateBmcCredential", "metal.rotateBmcCredential/seal",
                         kMinute, rotate_seal));
  places.push_back(place(tools, "3", "metal.rotateBmcCredential", "metal.rotateBmcCredential",
                         kHour, rotate_apply));
  places.push_back(place(tools, "3", "bmc.sweep", "bmc.sweep", kHour, sweep_sessions));
  places.push_back(power_off_place(tools, "4", "metal.ensureRamdisk/off", false));
  add_ramdisk(places, tools, "4", inventory_command(Code::kWipeUnverified));
  add_command(places, tools, "5", "disk.wipe", "disk.wipe", wipe_command());
  add_command(places, tools, "6", "diag.dcgm", "diag.dcgm", diagnosis_command());
  places.push_back(
      place(tools, "7", "metal.firmwareCheck", "metal.firmwareCheck", kHour, firmware_check));
  places.push_back(place(tools, "8", "evidence.sign", "evidence.sign", kHour, sign_evidence));
  places.push_back(
      place(tools, "8", "metal.exitTenantRoot", "metal.exitTenantRoot", kMinute, exit_tenant_root));
  places.push_back(power_off_place(tools, "9", "power.setPower/park", false));
  finish_ramdisk(places, tools);
  return workflow;
}

Workflow park_workflow(const Tools& tools) {
  Workflow workflow = parking(tools, kParkWorkflow, kBeginsExited, boot_clean_up);
  workflow.places = {power_off_place(tools, "9", "power.setPower/park", true)};
  return workflow;
}

}  // namespace leasehold
