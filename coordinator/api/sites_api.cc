// Sites as operators see them, and the one-time tokens with which a site is enrolled.
#include "coordinator/api/routes.h"
#include "coordinator/api/site_views.h"
#include "coordinator/api/takeover.h"
#include "coordinator/limits.h"
#include "coordinator/store/site_rows.h"
#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/tls/crypto.h"

namespace leasehold {
namespace {

Result<Reply> create_site(const CentreContext& context, Sql& sql, Call& call) {
  TRY(check_keys(call.body, {"site"}, "a new site"));
  std::string given = TRY(json_string(call.body, "site"));
  SiteId id = TRY(SiteId::parse(given, "site"));
  if (id.str().ends_with('-')) {  // it becomes a label of host names
    return Error(Code::kInvalidInput, "a site's id does not end with '-'", "site");
  }
  std::optional<store::Site> known = TRY(store::find_site(sql, id.str()));
  if (known.has_value()) {
    return Error(Code::kConflict, "there is a site \"" + id.str() + "\" already", "site");
  }
  store::Site site;
  site.site = id.str();
  site.created_at_ms = call.now_ms;
  TRY(store::put_site(sql, site));
  TRY(row_store::add_site(sql, {RowOwner::kCoordinator, site.site}, *context.random));
  TRY(own_event(sql, call, "site.created", site.site, "", Json::object()));
  Json body = TRY(site_json(sql, site, call.now_ms));
  return reply(std::move(body));
}

Result<Reply> list_sites(const CentreContext&, Sql& sql, Call& call) {
  Page page = TRY(page_of(call));
  std::vector<store::Site> sites = TRY(store::list_sites(sql, page.after, page.limit + 1));
  std::vector<Json> items;
  for (const store::Site& site : sites) items.push_back(TRY(site_json(sql, site, call.now_ms)));
  return reply(
      page_json(std::move(items), page, [](const Json& item) { return json_text(item, "site"); }));
}

Result<Reply> get_site(const CentreContext&, Sql& sql, Call& call) {
  store::Site site = TRY(store::need_site(sql, call.args[0]));
  Json body = TRY(site_json(sql, site, call.now_ms));
  return reply(std::move(body));
}

// Shown in this one answer: what is kept is its hash.
Result<Reply> make_token(const CentreContext& context, Sql& sql, Call& call) {
  TRY(check_keys(call.body, {}, "the request for a token"));
  store::Site site = TRY(store::need_site(sql, call.args[0]));
  const std::string token = base64url_encode(context.random->bytes(limits::kEnrolTokenBytes));
  site.token_sha256 = sha256_hex(token);
  site.token_until_ms = call.now_ms + limits::kEnrolTokenMs;
  site.token_used = false;
  TRY(store::put_site(sql, site));
  TRY(own_event(sql, call, "site.token-made", site.site, "", {{"by", call.who_uri()}}));
  return reply({{"site", site.site},
                {"token", token},
                {"expiresAt", format_time(site.token_until_ms)},
                {"rootSha256", context.config->root_sha256},
                {"url", context.config->url}});
}

Result<Reply> take_over(const CentreContext&, Sql& sql, Call& call) {
  TRY(check_keys(call.body, {}, "a takeover"));
  const store::Site site = TRY(store::need_site(sql, call.args[0]));
  std::optional<store::SiteBox> former = TRY(former_agent(sql, site.site, call.now_ms));
  if (!former.has_value()) {
    return Error(Code::kConflict, "no agent of site " + site.site + " waits for a former one");
  }
  TRY(former_stopped(sql, *former));
  call.detail = "the former agent was last heard at " + format_time(former->former_heard_at_ms);
  TRY(own_event(sql, call, "site.taken-over", site.site, "", {{"by", call.who_uri()}}));
  Json body = TRY(site_json(sql, site, call.now_ms));
  return reply(std::move(body));
}

}  // namespace

std::vector<Route> site_routes() {
  return {{"POST", "/v1/sites", MayCall::kOperator, "", create_site},
          {"GET", "/v1/sites", MayCall::kOperator, "limit after", list_sites},
          {"GET", "/v1/sites/*", MayCall::kOperator, "", get_site},
          {"POST", "/v1/sites/*/token", MayCall::kOperator, "", make_token},
          {"POST", "/v1/sites/*/takeover", MayCall::kOperator, "", take_over}};
}

}  // namespace leasehold
