// Hardware profiles: how one kind of machine is driven. The same content again is the same
// revision, other content the next; each revision goes to the sites whose pools name the profile.
#include "coordinator/api/routes.h"
#include "coordinator/api/site_views.h"
#include "coordinator/limits.h"
#include "coordinator/store/pools.h"
#include "coordinator/store/site_rows.h"
#include "core/hardware_profile/hardware_profile.h"

namespace leasehold {
namespace {

Json view_of(Json row) {
  row.erase("table");
  row.erase("schema");
  return row;
}

// What the import says, as the row that it becomes. The revision is the coordinator's to give.
Result<Json> row_of_import(Json body, int64_t revision) {
  body["revision"] = revision;
  if (!body.contains("table")) body["table"] = "hardware_profile";
  if (!body.contains("schema")) body["schema"] = 1;
  TRY(HardwareProfile::parse(body));
  return body;
}

// The pools that name this profile.
Result<std::vector<store::Pool>> pools_of_profile(Sql& sql, const std::string& profile) {
  std::vector<store::Pool> found;
  std::string after;
  while (true) {
    std::vector<store::Pool> pools = TRY(store::list_pools(sql, after, limits::kListMost));
    for (store::Pool& pool : pools) {
      after = pool.pool;
      if (json_text(pool.policy, "hardwareProfile") == profile) found.push_back(std::move(pool));
    }
    if (pools.size() < static_cast<size_t>(limits::kListMost)) return found;
  }
}

// D3: machines that nobody vetted are not leased with root, unless an operator took that on.
Status check_pools_of_unvetted(const std::vector<store::Pool>& pools) {
  for (const store::Pool& pool : pools) {
    const bool root = json_bool_or(pool.policy, "tenantRoot", false).value_or(true);
    if (!root || pool.allow_unvetted) continue;
    return Error(Code::kConflict,
                 "pool " + pool.pool + " is leased with root, and this revision is not vetted",
                 "vetted");
  }
  return {};
}

Result<Reply> import_profile(const CentreContext&, Sql& sql, Call& call) {
  Json row = TRY(row_of_import(call.body, 1));
  const std::string name = TRY(json_string(row, "profile"));
  Json newest = TRY(store::find_profile(sql, name));
  if (!newest.is_null()) {
    const int64_t revision = TRY(json_int(newest, "revision"));
    row["revision"] = revision;
    if (row == newest) return reply(view_of(std::move(newest)));
    row["revision"] = revision + 1;
  }
  HardwareProfile profile = TRY(HardwareProfile::parse(row));
  std::vector<store::Pool> pools = TRY(pools_of_profile(sql, name));
  if (!profile.vetted.has_value()) TRY(check_pools_of_unvetted(pools));
  TRY(store::add_profile(sql, row, call.now_ms, call.who_uri()));
  for (const store::Pool& pool : pools) {
    TRY(store::tell_site(sql, pool.site, {"hardware_profile", name, row}, call.touched));
  }
  TRY(own_event(sql, call, "hardware-profile.imported", "", "",
                {{"profile", name}, {"revision", profile.revision}}));
  return reply(view_of(std::move(row)));
}

Result<Reply> list_profiles(const CentreContext&, Sql& sql, Call& call) {
  Page page = TRY(page_of(call));
  std::vector<Json> items;
  std::vector<Json> rows = TRY(store::list_profiles(sql, page.after, page.limit + 1));
  for (Json& row : rows) items.push_back(view_of(std::move(row)));
  return reply(page_json(std::move(items), page,
                         [](const Json& item) { return json_text(item, "profile"); }));
}

Result<Reply> get_profile(const CentreContext&, Sql& sql, Call& call) {
  Json row = TRY(store::find_profile(sql, call.args[0]));
  if (!row.is_null()) return reply(view_of(std::move(row)));
  return Error(Code::kNotFound,
               "there is no hardware profile \"" + call.args[0].substr(0, 64) + "\"", "profile");
}

}  // namespace

std::vector<Route> profile_routes() {
  return {{"POST", "/v1/hardware-profiles", MayCall::kOperator, "", import_profile},
          {"GET", "/v1/hardware-profiles", MayCall::kOperator, "limit after", list_profiles},
          {"GET", "/v1/hardware-profiles/*", MayCall::kOperator, "", get_profile}};
}

}  // namespace leasehold
