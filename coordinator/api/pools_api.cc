// Pools (demands P1 to P7, P10): what an operator asks of a lease's end at one site. Each change is
// a revision, checked here and sent to the pool's site together with its hardware profile.
#include "coordinator/api/routes.h"
#include "coordinator/api/site_views.h"
#include "coordinator/store/pools.h"
#include "coordinator/store/site_rows.h"
#include "core/base/ids.h"
#include "core/hardware_profile/hardware_profile.h"
#include "core/rows/pool_policy.h"

namespace leasehold {
namespace {

constexpr const char* kBuiltInTenant = "root";
constexpr const char* kClass = "metal-dedicated";

Result<Json> view_of(const store::Pool& pool) {
  PoolPolicy policy = TRY(PoolPolicy::parse(store::policy_row(pool)));
  return Json{{"pool", pool.pool},
              {"tenantId", pool.tenant},
              {"siteId", pool.site},
              {"class", pool.hardware_class},
              {"agent", pool.agent},
              {"allowUnvetted", pool.allow_unvetted},
              {"revision", pool.revision},
              {"policy", pool.policy},
              {"ignoredImages", policy.ignored_images}};
}

// D3: unvetted hardware is leased with root only if an operator takes it on, and that is recorded.
Status check_vetted(const store::Pool& pool, const PoolPolicy& policy,
                    const HardwareProfile& profile, Call& call) {
  if (!policy.tenant_root || profile.vetted.has_value()) return {};
  if (!pool.allow_unvetted) {
    return Error(Code::kForbidden,
                 "hardware profile " + profile.name +
                     " is not vetted, so that its machines are not leased with root; have it "
                     "vetted, or take it on with \"allowUnvetted\"",
                 "policy.tenantRoot");
  }
  call.detail = "allowUnvetted: root on hardware profile " + profile.name + ", which is not vetted";
  return {};
}

// The pool as it is to be, kept with its revision.
Status settle_pool(Sql& sql, Call& call, const store::Pool& pool) {
  PoolPolicy policy = TRY(PoolPolicy::parse(store::policy_row(pool)));
  Json profile_row = TRY(store::find_profile(sql, policy.hardware_profile));
  if (profile_row.is_null()) {
    return Error(Code::kInvalidInput,
                 "there is no hardware profile \"" + policy.hardware_profile +
                     "\"; import it first: leasehold hardware-profile import FILE",
                 "policy.hardwareProfile");
  }
  HardwareProfile profile = TRY(HardwareProfile::parse(profile_row));
  TRY(check_vetted(pool, policy, profile, call));
  TRY(store::put_pool(sql, pool, call.now_ms, call.who_uri()));
  // The profile first: a policy never names what its site does not know.
  TRY(store::tell_site(sql, pool.site, {"hardware_profile", profile.name, std::move(profile_row)},
                       call.touched));
  TRY(store::tell_site(sql, pool.site, {"pool_policy", pool.pool, store::policy_row(pool)},
                       call.touched));
  Json fields = {{"pool", pool.pool}, {"revision", pool.revision}, {"by", call.who_uri()}};
  if (!call.detail.empty()) fields["override"] = call.detail;
  return own_event(sql, call, "pool.changed", pool.site, "", std::move(fields));
}

Status expect_word(const Json& body, const char* member, const char* word) {
  const std::string given = TRY(json_string_or(body, member, word));
  if (given == word) return {};
  return Error(Code::kInvalidInput, std::string("it is \"") + word + "\"", member);
}

Result<Reply> create_pool(const CentreContext&, Sql& sql, Call& call) {
  TRY(check_keys(call.body,
                 {"pool", "tenantId", "siteId", "class", "agent", "policy", "allowUnvetted"},
                 "a new pool"));
  store::Pool pool;
  std::string given = TRY(json_string(call.body, "pool"));
  pool.pool = TRY(PoolId::parse(given, "pool")).str();
  TRY(expect_word(call.body, "tenantId", kBuiltInTenant));
  TRY(expect_word(call.body, "class", kClass));
  pool.tenant = kBuiltInTenant;
  pool.hardware_class = kClass;
  pool.site = TRY(json_string(call.body, "siteId"));
  pool.agent = TRY(json_string_or(call.body, "agent", "ramdisk"));
  pool.allow_unvetted = TRY(json_bool_or(call.body, "allowUnvetted", false));
  pool.policy = TRY(json_object(call.body, "policy"));
  pool.revision = 1;
  std::optional<store::Site> site = TRY(store::find_site(sql, pool.site));
  if (!site.has_value()) {
    return Error(Code::kInvalidInput, "there is no site \"" + pool.site.substr(0, 64) + "\"",
                 "siteId");
  }
  std::optional<store::Pool> known = TRY(store::find_pool(sql, pool.pool));
  if (known.has_value()) {
    return Error(Code::kConflict,
                 "there is a pool \"" + pool.pool + "\" already; a new policy: PUT /v1/pools/" +
                     pool.pool + "/policy",
                 "pool");
  }
  TRY(settle_pool(sql, call, pool));
  Json body = TRY(view_of(pool));
  return reply(std::move(body));
}

Result<Reply> put_policy(const CentreContext&, Sql& sql, Call& call) {
  TRY(check_keys(call.body, {"policy", "allowUnvetted"}, "a pool's new policy"));
  store::Pool pool = TRY(store::need_pool(sql, call.args[0]));
  pool.policy = TRY(json_object(call.body, "policy"));
  pool.allow_unvetted = TRY(json_bool_or(call.body, "allowUnvetted", pool.allow_unvetted));
  pool.revision += 1;
  TRY(settle_pool(sql, call, pool));
  Json body = TRY(view_of(pool));
  return reply(std::move(body));
}

Result<Reply> list_pools(const CentreContext&, Sql& sql, Call& call) {
  Page page = TRY(page_of(call));
  std::vector<store::Pool> pools = TRY(store::list_pools(sql, page.after, page.limit + 1));
  std::vector<Json> items;
  for (const store::Pool& pool : pools) items.push_back(TRY(view_of(pool)));
  return reply(
      page_json(std::move(items), page, [](const Json& item) { return json_text(item, "pool"); }));
}

Result<Reply> get_pool(const CentreContext&, Sql& sql, Call& call) {
  store::Pool pool = TRY(store::need_pool(sql, call.args[0]));
  Json body = TRY(view_of(pool));
  return reply(std::move(body));
}

}  // namespace

std::vector<Route> pool_routes() {
  return {{"POST", "/v1/pools", MayCall::kOperator, "", create_pool},
          {"PUT", "/v1/pools/*/policy", MayCall::kOperator, "", put_policy},
          {"GET", "/v1/pools", MayCall::kOperator, "limit after", list_pools},
          {"GET", "/v1/pools/*", MayCall::kOperator, "", get_pool}};
}

}  // namespace leasehold
