#include "simsite/redfish/resource.h"

namespace leasehold::simsite {
namespace {

RedfishReply get_managers(const Call&) {
  return reply_json(200,
                    collection("/redfish/v1/Managers", "Manager", "Manager Collection", {"1"}));
}

RedfishReply get_manager(const Call& call) {
  auto version = call.state.firmware.find("BMC");
  return reply_json(200,
                    {{"@odata.id", "/redfish/v1/Managers/1"},
                     {"@odata.type", "#Manager.v1_17_0.Manager"},
                     {"Id", "1"},
                     {"Name", "Manager"},
                     {"ManagerType", "BMC"},
                     {"Model", "Simulated BMC"},
                     {"PowerState", "On"},
                     {"FirmwareVersion",
                      version == call.state.firmware.end() ? Json(nullptr) : Json(version->second)},
                     {"Status", status_ok()},
                     {"Links",
                      {{"ManagerForServers", Json::array({link("/redfish/v1/Systems/1")})},
                       {"ManagerForChassis", Json::array({link("/redfish/v1/Chassis/1")})}}}});
}

}  // namespace

std::vector<Route> manager_routes() {
  return {{.pattern = "/redfish/v1/Managers", .get = get_managers},
          {.pattern = "/redfish/v1/Managers/1", .get = get_manager}};
}

}  // namespace leasehold::simsite
