// The rows that the coordinator and its sites exchange, as the rest of the coordinator reads and
// writes them: one database for all sites, a stream for each. Inside a transaction, on the
// database's thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/db/row_store.h"
#include "core/rows/result_row.h"

namespace leasehold::store {

// A row of a site's copy, or one that was sent to it; null: there is none.
Result<Json> site_row(Sql& sql, const std::string& site, const std::string& table,
                      const std::string& key);
Result<std::vector<Json>> site_rows_of_node(Sql& sql, const std::string& site,
                                            const std::string& table, const std::string& node);
// Of `step` and `result`, whose keys begin with their run's, in order of key.
Result<std::vector<Json>> site_rows_of_run(Sql& sql, const std::string& site,
                                           const std::string& table, const std::string& run);
// Writes a row of the coordinator's for this site, if it is new or differs, and names the site's
// stream among what was touched. UNAVAILABLE while the coordinator's rows are being pulled back.
Status tell_site(Sql& sql, const std::string& site, const RowChange& change,
                 std::set<std::string>& touched);

}  // namespace leasehold::store
