#include "drivers/redfish/power.h"

#include <algorithm>

namespace leasehold::redfish {
namespace {

const char* reset_name(ResetType type) { return type == ResetType::kOn ? "On" : "ForceOff"; }

PowerState target_of(ResetType type) {
  return type == ResetType::kOn ? PowerState::kOn : PowerState::kOff;
}

const Json& reset_action(const Json& system) {
  return json_member(json_member(system, "Actions"), "#ComputerSystem.Reset");
}

// What the BMC lists: in place, or behind @Redfish.ActionInfo (W5). Null if it lists nothing.
Json allowable_values(Client& client, const Json& action) {
  const Json& here = json_member(action, "ResetType@Redfish.AllowableValues");
  if (here.is_array()) return here;
  std::string info = path_of(json_text(action, "@Redfish.ActionInfo"));
  if (info.empty()) return nullptr;
  auto reply = client.get(info);
  if (!reply.ok()) return nullptr;
  const Json& parameters = json_member(reply.value().body, "Parameters");
  if (!parameters.is_array()) return nullptr;
  for (const Json& parameter : parameters) {
    if (json_text(parameter, "Name") == "ResetType") {
      return json_member(parameter, "AllowableValues");
    }
  }
  return nullptr;
}

Result<std::string> choose(Client& client, const Json& action, ResetType type) {
  std::string wanted = reset_name(type);
  Json listed = allowable_values(client, action);
  if (!listed.is_array() || listed.empty()) return wanted;
  auto has = [&](const char* name) {
    return std::find(listed.begin(), listed.end(), name) != listed.end();
  };
  if (has(wanted.c_str())) return wanted;
  if (type == ResetType::kOn && has("ForceOn")) return std::string("ForceOn");
  return Error(Code::kUnsupported, "the BMC does not offer ResetType " + wanted);
}

}  // namespace

PowerState parse_power_state(const Json& system) {
  std::string state = json_text(system, "PowerState");
  if (state == "On") return PowerState::kOn;
  if (state == "Off") return PowerState::kOff;
  if (state == "PoweringOn") return PowerState::kPoweringOn;
  if (state == "PoweringOff") return PowerState::kPoweringOff;
  return PowerState::kUnknown;
}

Result<PowerState> read_power(System& system) { return parse_power_state(TRY(system.read()).body); }

Status reset_system(Client& client, System& system, ResetType type) {
  Json now = TRY(system.read()).body;
  if (parse_power_state(now) == target_of(type)) return {};
  const Json& action = reset_action(now);
  std::string target = path_of(json_text(action, "target"));
  if (target.empty()) target = TRY(system.path()) + "/Actions/ComputerSystem.Reset";
  auto chosen = TRY(choose(client, action, type));
  Json body = {{"ResetType", chosen}};

  auto reply = client.post(target, body);
  if (reply.ok() && reply.value().good() && first_failure(reply.value().messages) == nullptr) {
    return {};
  }
  Error failed;
  if (reply.ok()) {
    Call call;
    call.method = "POST";
    call.path = target;
    failed = client.transport().error(call, reply.value());
    if (reply.value().good()) failed.code = Code::kRefused;
  } else {
    failed = std::move(reply).error();
    if (failed.code == Code::kUnavailable) return failed;  // nothing was sent
  }
  // Off when it is off already is refused by many (W1), and an answer can get lost after the act.
  auto state = read_power(system);
  if (!state.ok()) return failed;
  if (state.value() == target_of(type)) return {};
  // The token was dead, so nothing was done: the caller looks again and decides.
  if (failed.code == Code::kUnauthenticated) failed.code = Code::kUnavailable;
  return failed;
}

}  // namespace leasehold::redfish
