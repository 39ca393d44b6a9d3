// Runs of all sites, newest first, and the steps of one.
#include <algorithm>

#include "coordinator/api/node_views.h"
#include "coordinator/api/routes.h"
#include "coordinator/store/site_rows.h"

namespace leasehold {
namespace {

// "startedAt,site,run" of the last item.
std::optional<store::RunKey> parse_cursor(const std::string& cursor) {
  const size_t first = cursor.find(',');
  if (first == std::string::npos) return std::nullopt;
  const size_t second = cursor.find(',', first + 1);
  if (second == std::string::npos) return std::nullopt;
  return store::RunKey{cursor.substr(0, first), cursor.substr(first + 1, second - first - 1),
                       cursor.substr(second + 1)};
}

Result<Reply> list_runs(const CentreContext&, Sql& sql, Call& call) {
  Page page = TRY(page_of(call));
  store::RunQuery query;
  query.site = call.text("site");
  query.node = call.text("node");
  query.state = call.text("state");
  query.before = parse_cursor(page.after);
  query.limit = page.limit + 1;
  if (!page.after.empty() && !query.before.has_value()) {
    return Error(Code::kInvalidInput, "\"after\" is the \"next\" of the answer before", "after");
  }
  std::vector<Json> items;
  for (const store::RunKey& key : TRY(store::list_runs(sql, query))) {
    items.push_back(TRY(run_json(sql, key)));
  }
  return reply(page_json(std::move(items), page, [](const Json& item) {
    return json_text(item, "startedAt") + "," + json_text(item, "site") + "," +
           json_text(item, "run");
  }));
}

Result<Reply> get_run(const CentreContext&, Sql& sql, Call& call) {
  Json row = TRY(store::site_row(sql, call.args[0], "run", call.args[1]));
  if (row.is_null()) {
    return Error(Code::kNotFound,
                 "there is no run \"" + call.args[1].substr(0, 64) + "\" at site \"" +
                     call.args[0].substr(0, 64) + "\"",
                 "run");
  }
  Json run = TRY(run_json(sql, {"", call.args[0], call.args[1]}));
  std::vector<Json> rows = TRY(store::site_rows_of_run(sql, call.args[0], "step", call.args[1]));
  std::stable_sort(rows.begin(), rows.end(), [](const Json& a, const Json& b) {
    return json_text(a, "finishedAt") < json_text(b, "finishedAt");
  });
  Json steps = Json::array();
  for (Json& step : rows) {
    for (const char* known : {"table", "schema", "node", "run"}) step.erase(known);
    steps.push_back(std::move(step));
  }
  run["steps"] = std::move(steps);
  return reply(std::move(run));
}

}  // namespace

std::vector<Route> run_routes() {
  return {{"GET", "/v1/runs", MayCall::kOperator, "site node state limit after", list_runs},
          {"GET", "/v1/runs/*/*", MayCall::kOperator, "", get_run}};
}

}  // namespace leasehold
