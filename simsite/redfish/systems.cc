#include <algorithm>

#include "simsite/redfish/resource.h"

namespace leasehold::simsite {
namespace {

constexpr const char* kSystem = "/redfish/v1/Systems/1";
constexpr const char* kReset = "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset";
constexpr const char* kInterfaces = "/redfish/v1/Systems/1/EthernetInterfaces";

const std::vector<std::string> kResetTypes = {"On", "ForceOff", "ForceRestart", "GracefulShutdown"};
const std::vector<std::string> kTargets = {"None", "Pxe", "Hdd", "Cd", "BiosSetup", "UefiHttp"};
const std::vector<std::string> kEnabled = {"Disabled", "Once", "Continuous"};
const std::vector<std::string> kModes = {"Legacy", "UEFI"};

bool contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

RedfishReply get_systems(const Call&) {
  return reply_json(200, collection("/redfish/v1/Systems", "ComputerSystem",
                                    "Computer System Collection", {"1"}));
}

Json boot_body(const BootOverride& boot) {
  return {{"BootSourceOverrideTarget", boot.target},
          {"BootSourceOverrideTarget@Redfish.AllowableValues", kTargets},
          {"BootSourceOverrideEnabled", boot.enabled},
          {"BootSourceOverrideEnabled@Redfish.AllowableValues", kEnabled},
          {"BootSourceOverrideMode", boot.mode},
          {"BootSourceOverrideMode@Redfish.AllowableValues", kModes}};
}

Json firmware_or_null(const BmcState& state, const std::string& id) {
  auto found = state.firmware.find(id);
  return found == state.firmware.end() ? Json(nullptr) : Json(found->second);
}

RedfishReply get_system(const Call& call) {
  const BmcState& state = call.state;
  return reply_json(
      200, {{"@odata.id", kSystem},
            {"@odata.type", "#ComputerSystem.v1_20_0.ComputerSystem"},
            {"Id", "1"},
            {"Name", state.machine},
            {"SystemType", "Physical"},
            {"Manufacturer", "Simsite"},
            {"Model", "SIM-1U"},
            {"SerialNumber", state.serial},
            {"UUID", state.uuid},
            {"HostName", ""},
            {"BiosVersion", firmware_or_null(state, "BIOS")},
            {"PowerState", power_name(state.power)},
            {"Status", status_ok()},
            {"Boot", boot_body(state.boot)},
            {"EthernetInterfaces", link(kInterfaces)},
            {"Links",
             {{"Chassis", Json::array({link("/redfish/v1/Chassis/1")})},
              {"ManagedBy", Json::array({link("/redfish/v1/Managers/1")})}}},
            {"Actions",
             {{"#ComputerSystem.Reset",
               {{"target", kReset}, {"ResetType@Redfish.AllowableValues", kResetTypes}}}}}});
}

// One member of Boot; a reply is an error.
std::optional<RedfishReply> set_boot_member(BootOverride& boot, const std::string& key,
                                            const Json& value) {
  struct Member {
    const char* name;
    std::string* slot;
    const std::vector<std::string>* allowed;
  };
  const Member members[] = {{"BootSourceOverrideTarget", &boot.target, &kTargets},
                            {"BootSourceOverrideEnabled", &boot.enabled, &kEnabled},
                            {"BootSourceOverrideMode", &boot.mode, &kModes}};
  for (const Member& member : members) {
    if (key != member.name) continue;
    if (!value.is_string()) return property_type(key);
    std::string text = value.get<std::string>();
    if (!contains(*member.allowed, text)) return value_not_in_list(key, text);
    *member.slot = text;
    return std::nullopt;
  }
  return property_unknown(key);
}

RedfishReply patch_system(const Call& call) {
  SetBoot change{call.state.boot};
  if (call.body.empty()) return property_missing("Boot");
  for (const auto& [key, value] : call.body.items()) {
    if (key != "Boot") return property_not_writable(key);
    if (!value.is_object()) return property_type(key);
    for (const auto& [name, member] : value.items()) {
      if (auto error = set_boot_member(change.boot, name, member)) return *error;
    }
  }
  if (change.boot.target == "None") change.boot.enabled = "Disabled";
  return reply_empty(change);
}

RedfishReply action_error(int status, const std::string& id, const std::string& what,
                          std::vector<std::string> args) {
  return reply_error(status, {id, "The action ComputerSystem.Reset " + what, std::move(args), ""});
}

RedfishReply post_reset(const Call& call) {
  const Json& value = json_member(call.body, "ResetType");
  if (value.is_null()) {
    return action_error(400, "ActionParameterMissing", "requires the parameter ResetType.",
                        {"ComputerSystem.Reset", "ResetType"});
  }
  if (!value.is_string()) {
    return action_error(400, "ActionParameterValueTypeError", "has a ResetType that is no string.",
                        {"", "ResetType", "ComputerSystem.Reset"});
  }
  std::string type = value.get<std::string>();
  if (!contains(kResetTypes, type)) {
    return action_error(400, "ActionParameterValueNotInList",
                        "has a ResetType '" + type + "' that is not in the list.",
                        {type, "ResetType", "ComputerSystem.Reset"});
  }
  bool off = call.state.power == Power::kOff || call.state.power == Power::kPoweringOff;
  if (off && (type == "ForceRestart" || type == "GracefulShutdown")) {
    return action_error(409, "ActionParameterValueConflict",
                        "with the value '" + type + "' conflicts with the host being off.",
                        {"ResetType", type});
  }
  return reply_empty(Reset{type});
}

RedfishReply get_interfaces(const Call&) {
  return reply_json(
      200, collection(kInterfaces, "EthernetInterface", "Ethernet Interface Collection", {"1"}));
}

RedfishReply get_interface(const Call& call) {
  return reply_json(200, {{"@odata.id", std::string(kInterfaces) + "/1"},
                          {"@odata.type", "#EthernetInterface.v1_9_0.EthernetInterface"},
                          {"Id", "1"},
                          {"Name", "Host Ethernet Interface"},
                          {"MACAddress", call.state.mac},
                          {"PermanentMACAddress", call.state.mac},
                          {"InterfaceEnabled", true},
                          {"LinkStatus", "LinkUp"},
                          {"SpeedMbps", 25000},
                          {"Status", status_ok()}});
}

}  // namespace

std::vector<Route> system_routes() {
  Route system{.pattern = kSystem, .get = get_system};
  system.patch = patch_system;
  Route reset{.pattern = kReset};
  reset.post = post_reset;
  return {{.pattern = "/redfish/v1/Systems", .get = get_systems},
          system,
          reset,
          {.pattern = kInterfaces, .get = get_interfaces},
          {.pattern = std::string(kInterfaces) + "/1", .get = get_interface}};
}

}  // namespace leasehold::simsite
