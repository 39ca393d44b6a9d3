#include "agent/workflows/places.h"

#include "agent/steps/evidence.h"
#include "agent/steps/power.h"
#include "agent/workflows/failure.h"
#include "agent/workflows/names.h"

namespace leasehold {
namespace {

bool stands_as(const NodeRow& node, const std::string& beginning) {
  bool platform = node.trust == Trust::kPlatform && !node.tenant_root && node.lease.empty();
  if (beginning == kBeginsLeased) return node.state == NodeState::kReleasing && node.tenant_root;
  if (beginning == kBeginsExited) {
    return node.state == NodeState::kReleasing && platform && !node.clean_run.empty();
  }
  if (beginning == kBeginsEnrolling) return node.state == NodeState::kEnrolling && platform;
  if (beginning == kBeginsReady) return node.state == NodeState::kReady && platform;
  return false;
}

}  // namespace

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

void add_command(std::vector<Place>& places, const Tools& tools, const char* group,
                 const char* title, const std::string& name, const CommandSpec& spec) {
  places.push_back(
      Place{name + "/issue", group, title, kMinute,
            [&tools, spec](StepContext& context) { return command_issue(tools, context, spec); }});
  places.push_back(
      Place{name, group, title, spec.within_ms + kMinute,
            [&tools, spec](StepContext& context) { return command_await(tools, context, spec); }});
}

void add_ramdisk(std::vector<Place>& places, const Tools& tools, const char* group,
                 const CommandSpec& inventory) {
  places.push_back(Place{kRamdiskOpenPlace, group, "metal.ensureRamdisk", kMinute, {}});
  places.push_back(
      place(tools, group, "metal.ensureRamdisk", "metal.ensureRamdisk", kHour, ramdisk_boot));
  add_command(places, tools, group, "metal.ensureRamdisk", kInventoryPlace, inventory);
}

void finish_ramdisk(std::vector<Place>& places, const Tools& tools) {
  Place* open = nullptr;
  int64_t life_ms = 0;
  for (Place& each : places) {
    if (each.name == kRamdiskOpenPlace) open = &each;
    if (open != nullptr) life_ms += each.deadline_ms;
  }
  LEASEHOLD_CHECK(open != nullptr, "the table opens a ramdisk");
  open->run = [&tools, life_ms](StepContext& context) {
    return ramdisk_open(tools, context, life_ms);
  };
}

Workflow parking(const Tools& tools, const char* name, const char* begins_with,
                 StepFunction clean_up) {
  Workflow workflow;
  workflow.name = name;
  workflow.begins_with = begins_with;
  workflow.cleanup = {
      place(tools, "cleanup", "boot.cleanUp", "boot.cleanUp", 10 * kMinute, clean_up)};
  workflow.succeed = [&tools](StepContext& context) { return ready_rows(tools, context); };
  workflow.fail = [&tools](StepContext& context, const Error& error) {
    return failure_rows(tools, context, error);
  };
  return workflow;
}

void check_beginning(Workflow& workflow) {
  Place& first = workflow.places.front();
  first.run = [beginning = workflow.begins_with,
               step = std::move(first.run)](StepContext& context) -> StepOutcome {
    Result<NodeRow> node = node_of(context);
    if (!node.ok()) return node.error();
    STEP_CHECK(stands_as(node.value(), beginning), "the node stands as this workflow begins");
    return step(context);
  };
}

}  // namespace leasehold
