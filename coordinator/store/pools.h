// Pools and hardware profiles with their revisions, as an operator gave them. A revision is never
// changed. Inside a transaction, on the database's thread; it judges no content.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/db/database.h"

namespace leasehold::store {

struct Pool {
  std::string pool;
  std::string tenant;
  std::string site;
  std::string hardware_class;  // "metal-dedicated"
  std::string agent;           // "ramdisk" or "none"
  bool allow_unvetted = false;
  int64_t revision = 0;  // the newest
  Json policy;
};
Result<std::optional<Pool>> find_pool(Sql& sql, const std::string& pool);
Result<Pool> need_pool(Sql& sql, const std::string& pool);  // NOT_FOUND
Result<std::vector<Pool>> list_pools(Sql& sql, const std::string& after, int64_t limit);
Result<std::vector<Pool>> pools_of_site(Sql& sql, const std::string& site);
// The `pool_policy` row that its site is sent.
Json policy_row(const Pool& pool);
// A revision of a pool of this site as a `pool_policy` row; null: there is none.
Result<Json> policy_revision(Sql& sql, const std::string& site, const std::string& pool,
                             int64_t revision);
Status put_pool(Sql& sql, const Pool& pool, int64_t now_ms, const std::string& by);

// A `hardware_profile` row (core/hardware_profile); null: there is none of that name.
Result<Json> find_profile(Sql& sql, const std::string& profile);
Result<std::vector<Json>> list_profiles(Sql& sql, const std::string& after, int64_t limit);
Status add_profile(Sql& sql, const Json& row, int64_t now_ms, const std::string& by);

}  // namespace leasehold::store
