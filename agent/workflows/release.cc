#include "agent/workflows/release.h"

#include "agent/steps/evidence.h"
#include "agent/steps/fence.h"
#include "agent/steps/firmware_check.h"
#include "agent/steps/power.h"
#include "agent/steps/ramdisk.h"
#include "agent/steps/rotate.h"
#include "agent/workflows/names.h"
#include "core/base/log.h"

namespace leasehold {
namespace {

constexpr int64_t kMinute = 60'000;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;

using StepFunction = StepOutcome (*)(const Tools&, StepContext&);

Place place(const Tools& tools, const char* group, const char* title, const char* name,
            int64_t deadline_ms, StepFunction step) {
  return Place{name, group, title, deadline_ms,
               [&tools, step](StepContext& context) { return step(tools, context); }};
}

Place power_off_place(const Tools& tools, const char* group, const char* name, bool clears_debt) {
  return Place{name, group, "power.setPower off", kHour,
               [&tools, clears_debt](StepContext& context) {
                 return power_off(tools, context, clears_debt);
               }};
}

// A command to the ramdisk: its row first, then the wait for the signed result.
void add_command(std::vector<Place>& places, const Tools& tools, const char* group,
                 const char* title, const std::string& name, const CommandSpec& spec) {
  places.push_back(
      Place{name + "/issue", group, title, kMinute,
            [&tools, spec](StepContext& context) { return command_issue(tools, context, spec); }});
  places.push_back(
      Place{name, group, title, spec.within_ms + kMinute,
            [&tools, spec](StepContext& context) { return command_await(tools, context, spec); }});
}

Workflow parking(const Tools& tools, const char* name) {
  Workflow workflow;
  workflow.name = name;
  workflow.cleanup = {
      place(tools, "cleanup", "boot.cleanUp", "boot.cleanUp", 10 * kMinute, boot_clean_up)};
  workflow.succeed = [&tools](StepContext& context) { return ready_rows(tools, context); };
  workflow.fail = [&tools](StepContext& context, const Error& error) {
    return failure_rows(tools, context, error);
  };
  return workflow;
}

}  // namespace

Workflow release_workflow(const Tools& tools) {
  Workflow workflow = parking(tools, kReleaseWorkflow);
  std::vector<Place>& places = workflow.places;
  places.push_back(power_off_place(tools, "1", "power.setPower/off", true));
  places.push_back(
      place(tools, "2", "metal.fenceTenant", "metal.fenceTenant", kMinute, fence_tenant));
  places.push_back(place(tools, "3", "metal.rotateBmcCredential", "metal.rotateBmcCredential/seal",
                         kMinute, rotate_seal));
  places.push_back(place(tools, "3", "metal.rotateBmcCredential", "metal.rotateBmcCredential",
                         kHour, rotate_apply));
  places.push_back(place(tools, "3", "bmc.sweep", "bmc.sweep", kHour, sweep_sessions));
  places.push_back(power_off_place(tools, "4", "metal.ensureRamdisk/off", false));
  size_t open_at = places.size();
  places.push_back(Place{kRamdiskOpenPlace, "4", "metal.ensureRamdisk", kMinute, {}});
  places.push_back(
      place(tools, "4", "metal.ensureRamdisk", "metal.ensureRamdisk", kHour, ramdisk_boot));
  add_command(places, tools, "4", "metal.ensureRamdisk", "metal.ensureRamdisk/inventory",
              inventory_command());
  add_command(places, tools, "5", "disk.wipe", "disk.wipe", wipe_command());
  add_command(places, tools, "6", "diag.dcgm", "diag.dcgm", diagnosis_command());
  places.push_back(
      place(tools, "7", "metal.firmwareCheck", "metal.firmwareCheck", kHour, firmware_check));
  places.push_back(place(tools, "8", "evidence.sign", "evidence.sign", kHour, sign_evidence));
  places.push_back(
      place(tools, "8", "metal.exitTenantRoot", "metal.exitTenantRoot", kMinute, exit_tenant_root));
  places.push_back(power_off_place(tools, "9", "power.setPower/park", false));
  // The ramdisk's certificate ends with what may still be asked of it.
  int64_t life_ms = 0;
  for (size_t i = open_at; i < places.size(); ++i) life_ms += places[i].deadline_ms;
  places[open_at].run = [&tools, life_ms](StepContext& context) {
    return ramdisk_open(tools, context, life_ms);
  };
  return workflow;
}

Workflow park_workflow(const Tools& tools) {
  Workflow workflow = parking(tools, kParkWorkflow);
  workflow.places = {power_off_place(tools, "9", "power.setPower/park", true)};
  return workflow;
}

std::vector<Workflow> all_workflows(const Tools& tools) {
  return {release_workflow(tools), park_workflow(tools)};
}

Done failure_rows(const Tools& tools, const StepContext& context, const Error& error) {
  Done done;
  tools.chain->give_back(context.run.id);
  Result<NodeRow> loaded = node_of(context);
  // A node that cannot be read is not touched; the journal holds the failure all the same.
  if (!loaded.ok()) return done;
  NodeRow& node = loaded.value();
  if (node.state != NodeState::kFailed) node.failed_from = node_state_name(node.state);
  node.state = NodeState::kFailed;
  node.maintenance = true;
  node.power_off_owed = true;
  node.failure = Json{{"code", code_name(error.code)},
                      {"message", scrubbed(error.message)},
                      {"run", context.run.id.str()},
                      {"place", context.place},
                      {"at", format_time(tools.clock->now_ms())}};
  done.rows.push_back(node.change());
  for (RowChange& change : rotation_failure_rows(context, error.code)) {
    done.rows.push_back(std::move(change));
  }
  Result<std::vector<RamdiskRow>> open = ramdisks(*context.rows);
  if (open.ok()) {
    for (RamdiskRow& ramdisk : open.value()) {
      if (ramdisk.state == "closed") continue;
      ramdisk.state = "closed";
      ramdisk.sealed_token.clear();
      done.rows.push_back(ramdisk.change());
    }
  }
  done.rows.push_back(
      event_of(tools, context, "node.failed",
               Json{{"code", code_name(error.code)}, {"failedFrom", node.failed_from}}));
  done.notices.push_back(Json{{"type", "close-node"}, {"node", node.id.str()}});
  return done;
}

}  // namespace leasehold
