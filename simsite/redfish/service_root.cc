#include "simsite/redfish/resource.h"

namespace leasehold::simsite {
namespace {

RedfishReply versions(const Call&) { return reply_json(200, {{"v1", "/redfish/v1/"}}); }

RedfishReply service_root(const Call& call) {
  return reply_json(200,
                    {{"@odata.id", "/redfish/v1/"},
                     {"@odata.type", "#ServiceRoot.v1_15_0.ServiceRoot"},
                     {"Id", "RootService"},
                     {"Name", "Root Service"},
                     {"RedfishVersion", "1.17.0"},
                     {"UUID", call.state.uuid},
                     {"Vendor", "Simsite"},
                     {"Product", "Simulated BMC"},
                     {"Systems", link("/redfish/v1/Systems")},
                     {"Chassis", link("/redfish/v1/Chassis")},
                     {"Managers", link("/redfish/v1/Managers")},
                     {"SessionService", link("/redfish/v1/SessionService")},
                     {"AccountService", link("/redfish/v1/AccountService")},
                     {"UpdateService", link("/redfish/v1/UpdateService")},
                     {"Links", {{"Sessions", link("/redfish/v1/SessionService/Sessions")}}},
                     {"ProtocolFeaturesSupported",
                      {{"ExcerptQuery", false}, {"FilterQuery", false}, {"SelectQuery", false}}}});
}

// DSP0266 clause 8.4.2: the service document of OData.
RedfishReply odata(const Call&) {
  Json values = Json::array();
  for (const char* name :
       {"Systems", "Chassis", "Managers", "SessionService", "AccountService", "UpdateService"}) {
    values.push_back(
        {{"name", name}, {"kind", "Singleton"}, {"url", std::string("/redfish/v1/") + name}});
  }
  return reply_json(200, {{"@odata.context", "/redfish/v1/$metadata"}, {"value", values}});
}

RedfishReply metadata(const Call&) {
  RedfishReply reply = reply_json(200, nullptr);
  reply.response.headers = {{"Content-Type", "application/xml; charset=utf-8"},
                            {"OData-Version", "4.0"}};
  reply.response.body =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<edmx:Edmx xmlns:edmx=\"http://docs.oasis-open.org/odata/ns/edmx\" Version=\"4.0\">\n"
      "  <edmx:Reference Uri=\"http://redfish.dmtf.org/schemas/v1/ServiceRoot_v1.xml\">\n"
      "    <edmx:Include Namespace=\"ServiceRoot.v1_15_0\"/>\n"
      "  </edmx:Reference>\n"
      "  <edmx:DataServices>\n"
      "    <Schema xmlns=\"http://docs.oasis-open.org/odata/ns/edm\" Namespace=\"Service\">\n"
      "      <EntityContainer Name=\"Service\" "
      "Extends=\"ServiceRoot.v1_15_0.ServiceContainer\"/>\n"
      "    </Schema>\n"
      "  </edmx:DataServices>\n"
      "</edmx:Edmx>\n";
  return reply;
}

Route open_route(const std::string& pattern, Handler get) {
  Route route;
  route.pattern = pattern;
  route.get = get;
  route.open_get = true;
  return route;
}

}  // namespace

std::vector<Route> service_root_routes() {
  return {open_route("/redfish", versions), open_route("/redfish/v1", service_root),
          open_route("/redfish/v1/odata", odata), open_route("/redfish/v1/$metadata", metadata)};
}

}  // namespace leasehold::simsite
