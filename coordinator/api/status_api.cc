// Who calls, what there is, and the root certificate for whoever has none yet.
#include "coordinator/api/routes.h"
#include "coordinator/api/site_views.h"
#include "coordinator/store/indexes.h"
#include "coordinator/store/sites.h"
#include "core/base/clock.h"

namespace leasehold {
namespace {

constexpr const char* kVersion = "0.1.0";

Result<Reply> get_root(const CentreContext& context, Sql&, Call& call) {
  call.unaudited = true;  // anybody may ask, and learns nothing that is secret
  return reply({{"root", context.config->root_pem}, {"domain", context.config->domain}});
}

Result<Reply> get_whoami(const CentreContext&, Sql&, Call& call) {
  return reply({{"identity", call.who.uri()},
                {"kind", kind_name(call.who.kind)},
                {"name", call.who.name},
                {"site", call.who.site},
                {"tenant", call.who.tenant}});
}

Result<Json> alarms(Sql& sql, int64_t now_ms) {
  Json found = Json::array();
  std::string after;
  while (true) {
    std::vector<store::Site> sites = TRY(store::list_sites(sql, after, 1000));
    for (const store::Site& site : sites) {
      Json alarm = TRY(alarm_json(sql, site, now_ms));
      if (alarm.is_null()) continue;
      alarm["site"] = site.site;
      found.push_back(std::move(alarm));
    }
    if (sites.size() < 1000) return found;
    after = sites.back().site;
  }
}

Result<Reply> get_status(const CentreContext& context, Sql& sql, Call& call) {
  store::Counts counts = TRY(store::count_all(sql));
  int64_t sites = TRY(store::count_sites(sql));
  Json raised = TRY(alarms(sql, call.now_ms));
  return reply({{"domain", context.config->domain},
                {"version", kVersion},
                {"time", format_time(call.now_ms)},
                {"sites", sites},
                {"nodes", counts.nodes},
                {"openRuns", counts.open_runs},
                {"alarms", std::move(raised)}});
}

}  // namespace

std::vector<Route> status_routes() {
  return {{"GET", "/v1/root", MayCall::kAnyone, "", get_root},
          {"GET", "/v1/whoami", MayCall::kCertified, "", get_whoami},
          {"GET", "/v1/status", MayCall::kOperator, "", get_status}};
}

}  // namespace leasehold
