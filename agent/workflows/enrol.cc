#include "agent/workflows/enrol.h"

#include "agent/steps/accept.h"
#include "agent/steps/evidence.h"
#include "agent/steps/firmware_check.h"
#include "agent/steps/identify.h"
#include "agent/steps/manifest.h"
#include "agent/steps/take_over.h"
#include "agent/workflows/names.h"
#include "agent/workflows/places.h"

namespace leasehold {

Workflow enrol_workflow(const Tools& tools) {
  Workflow workflow = parking(tools, kEnrolWorkflow, kBeginsEnrolling, enrol_clean_up);
  std::vector<Place>& places = workflow.places;
  const char* take_over = "take over the factory credential";
  places.push_back(
      place(tools, "1", "ServiceRoot without credentials", kGreetPlace, 10 * kMinute, greet_bmc));
  places.push_back(place(tools, "2", take_over, kLookPlace, 10 * kMinute, look_at_machine));
  places.push_back(
      place(tools, "2", take_over, "metal.rotateBmcCredential/seal", kMinute, take_over_seal));
  places.push_back(
      place(tools, "2", take_over, "metal.rotateBmcCredential", kHour, take_over_apply));
  places.push_back(place(tools, "2", "bmc.sweep", "bmc.sweep", kHour, take_over_sweep));
  places.push_back(
      place(tools, "3", "probe, choose the driver", "bmc.probe", 10 * kMinute, probe_driver));
  places.push_back(power_off_place(tools, "4", kFirstOffPlace, true));
  add_ramdisk(places, tools, "4", inventory_command(Code::kHardwareMismatch));
  places.push_back(place(tools, "5", "disk manifest, hardware profile", "enrol.manifest", kMinute,
                         take_manifest));
  places.push_back(
      place(tools, "6", "metal.firmwareCheck", "metal.firmwareCheck", kHour, firmware_check));
  add_command(places, tools, "7", "disk.wipe", "disk.wipe", wipe_command());
  add_command(places, tools, "8", "diag.dcgm", "diag.dcgm", diagnosis_command());
  places.push_back(place(tools, "9", "evidence.sign", "evidence.sign", kHour, sign_evidence));
  places.push_back(place(tools, "9", "enrol.accept", "enrol.accept", kMinute, accept_machine));
  places.push_back(power_off_place(tools, "10", "power.setPower/park", false));
  finish_ramdisk(places, tools);
  return workflow;
}

}  // namespace leasehold
