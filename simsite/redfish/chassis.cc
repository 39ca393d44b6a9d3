#include "simsite/redfish/resource.h"

namespace leasehold::simsite {
namespace {

RedfishReply get_chassis_collection(const Call&) {
  return reply_json(200, collection("/redfish/v1/Chassis", "Chassis", "Chassis Collection", {"1"}));
}

RedfishReply get_chassis(const Call& call) {
  return reply_json(200, {{"@odata.id", "/redfish/v1/Chassis/1"},
                          {"@odata.type", "#Chassis.v1_22_0.Chassis"},
                          {"Id", "1"},
                          {"Name", "Chassis"},
                          {"ChassisType", "RackMount"},
                          {"Manufacturer", "Simsite"},
                          {"Model", "SIM-1U"},
                          {"SerialNumber", call.state.serial},
                          {"PowerState", power_name(call.state.power)},
                          {"Status", status_ok()},
                          {"Links",
                           {{"ComputerSystems", Json::array({link("/redfish/v1/Systems/1")})},
                            {"ManagedBy", Json::array({link("/redfish/v1/Managers/1")})}}}});
}

}  // namespace

std::vector<Route> chassis_routes() {
  return {{.pattern = "/redfish/v1/Chassis", .get = get_chassis_collection},
          {.pattern = "/redfish/v1/Chassis/1", .get = get_chassis}};
}

}  // namespace leasehold::simsite
