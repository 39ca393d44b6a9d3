// The machine's side of its tools: faults, the erasure of a disk, and the death in the middle.
#include "core/base/log.h"
#include "simsite/machine.h"

namespace leasehold::simsite {
namespace {

std::string joined(const std::vector<std::string>& argv) {
  std::string line;
  for (const std::string& word : argv) line += (line.empty() ? "" : " ") + word;
  return line;
}

// "nvme format /dev/nvme0n1 --ses=2": the first word after the program that is no option.
std::string verb_of(const std::vector<std::string>& argv) {
  for (size_t i = 1; i < argv.size(); ++i) {
    if (!argv[i].empty() && argv[i][0] != '-') return argv[i];
  }
  return "";
}

Erase lied_erase(const Json& args) {
  return json_text(args, "part") == "half" ? Erase::kHalf : Erase::kNothing;
}

}  // namespace

ToolAnswer Machine::tool_call(const std::vector<std::string>& argv) {
  // GPU tools change nothing, yet they can lie; so can only a format among nvme's verbs.
  bool can_lie = run_tool(hardware_, argv, nullptr).erases != nullptr ||
                 (!argv.empty() && !argv[0].ends_with("nvme"));
  FaultPlan plan = faults_.match(
      {FaultOn::kTool, verb_of(argv), joined(argv), nullptr, can_lie, {}}, config_.name);
  bool lies = plan.spoiled && plan.action == FaultAction::kLie;
  ToolCall call = run_tool(hardware_, argv, lies ? plan.args : Json(nullptr));
  ToolAnswer answer{Delivery::kAnswer, plan.latency_ms, call.result};
  if (!plan.spoiled || lies) {
    erase(call, argv, plan, answer);
    return answer;
  }
  if (plan.action == FaultAction::kApplyThenStatus ||
      plan.action == FaultAction::kApplyWithoutReply) {
    erase(call, argv, plan, answer);
  }
  switch (plan.action) {
    case FaultAction::kStatus:
    case FaultAction::kApplyThenStatus:
      answer.result = {static_cast<int>(json_int_or(plan.args, "code", 1).value_or(1)),
                       json_text(plan.args, "out"), json_text(plan.args, "err")};
      break;
    case FaultAction::kHang:
      answer.delivery = Delivery::kHang;
      break;
    case FaultAction::kDies:
      host_.die(json_text(plan.args, "power") == "Off");
      answer.delivery = Delivery::kDrop;
      break;
    default:
      answer.delivery = Delivery::kDrop;
  }
  return answer;
}

void Machine::erase(const ToolCall& call, const std::vector<std::string>& argv,
                    const FaultPlan& plan, ToolAnswer& answer) {
  if (call.resets_gpus) {
    ++effects_here_;
    effects_.add(config_.name, joined(argv));
  }
  if (call.erases == nullptr) return;
  bool lies = plan.spoiled && plan.action == FaultAction::kLie;
  Erase how = lies ? lied_erase(plan.args) : Erase::kAll;
  if (how == Erase::kNothing) return;
  Status erased = erase_disk(*call.erases, how);
  if (!erased.ok()) {
    log_line(LogEvent::kProgramFailed,
             {{"machine", config_.name}, {"message", erased.error().text()}});
    answer.result = {1, "", erased.error().text() + "\n"};
    return;
  }
  ++effects_here_;
  effects_.add(config_.name, joined(argv));
}

}  // namespace leasehold::simsite
