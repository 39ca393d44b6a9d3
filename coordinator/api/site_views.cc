#include "coordinator/api/site_views.h"

#include <algorithm>

#include "coordinator/api/takeover.h"
#include "coordinator/store/records.h"
#include "coordinator/store/site_rows.h"

namespace leasehold {

Result<Json> alarm_json(Sql& sql, const store::Site& site, int64_t now_ms) {
  if (!site.alarm_code.empty()) return Json{{"code", site.alarm_code}, {"message", site.alarm}};
  const std::optional<store::SiteBox> former = TRY(former_agent(sql, site.site, now_ms));
  if (!former.has_value()) return Json();
  return Json{{"code", code_name(Code::kConflict)},
              {"message", "its agent waits: another one on another box was last heard at " +
                              format_time(former->former_heard_at_ms) +
                              " and may still act; once that box is off for good: leasehold site "
                              "takeover " +
                              site.site}};
}

Result<Json> site_json(Sql& sql, const store::Site& site, int64_t now_ms) {
  Json cas = Json::array();
  for (const store::SiteCa& ca : TRY(store::site_cas(sql, site.site))) {
    cas.push_back({{"sha256", ca.sha256}, {"notAfter", format_time(ca.not_after_ms)}});
  }
  const row_store::Stream own = TRY(row_store::stream(sql, {RowOwner::kCoordinator, site.site}));
  Json alarm = TRY(alarm_json(sql, site, now_ms));
  const std::optional<store::SiteBox> former = TRY(former_agent(sql, site.site, now_ms));
  return Json{{"site", site.site},
              {"state", site.enrolment == 0 ? "created" : "enrolled"},
              {"lastContactAt", site.contact_at_ms == 0 ? "" : format_time(site.contact_at_ms)},
              {"incarnation", own.incarnation},
              {"acknowledged", site.acknowledged},
              {"behind", std::max<int64_t>(own.seq - site.acknowledged, 0)},
              {"siteCas", std::move(cas)},
              {"former", former_json(former)},
              {"alarm", std::move(alarm)}};
}

Result<Json> recorded_cas_json(Sql& sql, const std::string& site) {
  Json digests = Json::array();
  for (const store::SiteCa& ca : TRY(store::site_cas(sql, site))) digests.push_back(ca.sha256);
  Json recorded = Json::object();
  recorded[site] = std::move(digests);
  return recorded;
}

Status own_event(Sql& sql, Call& call, const std::string& name, const std::string& site,
                 const std::string& node, Json fields) {
  fields["name"] = name;
  fields["at"] = format_time(call.now_ms);
  TRY(store::add_event(sql, site, node, fields));
  call.touched.insert(events_topic());
  return {};
}

Result<store::Site> calling_site(Sql& sql, const Call& call) {
  store::Site site = TRY(store::need_site(sql, call.who.site));
  std::optional<store::Certificate> known = TRY(store::find_certificate(sql, call.serial));
  // One that is not known was issued after the backup that this database was restored from.
  if (known.has_value() && known->enrolment < site.enrolment) {
    return Error(Code::kSuperseded,
                 "site " + site.site + " was enrolled anew since this certificate was issued");
  }
  return site;
}

}  // namespace leasehold
