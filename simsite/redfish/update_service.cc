#include "simsite/redfish/resource.h"

namespace leasehold::simsite {
namespace {

constexpr const char* kInventory = "/redfish/v1/UpdateService/FirmwareInventory";

RedfishReply get_service(const Call&) {
  return reply_json(200, {{"@odata.id", "/redfish/v1/UpdateService"},
                          {"@odata.type", "#UpdateService.v1_11_3.UpdateService"},
                          {"Id", "UpdateService"},
                          {"Name", "Update Service"},
                          {"ServiceEnabled", true},
                          {"Status", status_ok()},
                          // No action is offered; clients insist on the member.
                          {"Actions", {{"Oem", Json::object()}}},
                          {"FirmwareInventory", link(kInventory)}});
}

RedfishReply get_inventory(const Call& call) {
  std::vector<std::string> ids;
  for (const auto& [id, version] : call.state.firmware) ids.push_back(id);
  return reply_json(
      200, collection(kInventory, "SoftwareInventory", "Firmware Inventory Collection", ids));
}

RedfishReply get_component(const Call& call) {
  std::string path = child_path(kInventory, call.captures[0]);
  auto found = call.state.firmware.find(call.captures[0]);
  if (found == call.state.firmware.end()) return not_found(path);
  return reply_json(200, {{"@odata.id", path},
                          {"@odata.type", "#SoftwareInventory.v1_9_0.SoftwareInventory"},
                          {"Id", found->first},
                          {"Name", found->first + " firmware"},
                          {"SoftwareId", found->first},
                          {"Version", found->second},
                          {"Updateable", true},
                          {"Status", status_ok()}});
}

}  // namespace

std::vector<Route> update_routes() {
  return {{.pattern = "/redfish/v1/UpdateService", .get = get_service},
          {.pattern = kInventory, .get = get_inventory},
          {.pattern = std::string(kInventory) + "/*", .get = get_component}};
}

}  // namespace leasehold::simsite
