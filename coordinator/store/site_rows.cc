#include "coordinator/store/site_rows.h"

#include "coordinator/context.h"

namespace leasehold::store {
namespace {

row_store::Side side_of(const std::string& site) { return {RowOwner::kCoordinator, site}; }

}  // namespace

Result<Json> site_row(Sql& sql, const std::string& site, const std::string& table,
                      const std::string& key) {
  return row_store::get(sql, table, key, side_of(site));
}

Result<std::vector<Json>> site_rows_of_node(Sql& sql, const std::string& site,
                                            const std::string& table, const std::string& node) {
  return row_store::all(sql, table, node, side_of(site));
}

Result<std::vector<Json>> site_rows_of_run(Sql& sql, const std::string& site,
                                           const std::string& table, const std::string& run) {
  std::vector<Json> found;
  std::vector<Json> below = TRY(row_store::all_below(sql, table, run, side_of(site)));
  for (Json& row : below) {
    if (json_text(row, "run") == run) found.push_back(std::move(row));
  }
  return found;
}

Status tell_site(Sql& sql, const std::string& site, const RowChange& change,
                 std::set<std::string>& touched) {
  Json known = TRY(site_row(sql, site, change.table, change.key));
  if (known == change.row) return {};
  TRY(row_store::put(sql, change, side_of(site)));
  touched.insert(stream_topic(site));
  return {};
}

}  // namespace leasehold::store
