#include "coordinator/store/pools.h"

namespace leasehold::store {
namespace {

Json row_of(const Pool& pool) {
  return {{"pool", pool.pool},         {"tenant", pool.tenant},
          {"site", pool.site},         {"class", pool.hardware_class},
          {"agent", pool.agent},       {"allowUnvetted", pool.allow_unvetted},
          {"revision", pool.revision}, {"policy", pool.policy}};
}

Result<Pool> parse_pool(const std::string& text) {
  Json row = TRY(parse_own_json(text));
  Pool pool;
  pool.pool = TRY(json_string(row, "pool"));
  pool.tenant = TRY(json_string(row, "tenant"));
  pool.site = TRY(json_string(row, "site"));
  pool.hardware_class = TRY(json_string(row, "class"));
  pool.agent = TRY(json_string(row, "agent"));
  pool.allow_unvetted = TRY(json_bool(row, "allowUnvetted"));
  pool.revision = TRY(json_int(row, "revision"));
  pool.policy = TRY(json_object(row, "policy"));
  return pool;
}

Result<std::vector<Pool>> read_pools(Sql& sql, const char* statement,
                                     const std::vector<SqlValue>& values) {
  std::vector<std::string> texts;
  TRY(sql.query(statement, values, [&](const SqlRow& row) { texts.push_back(row.text(0)); }));
  std::vector<Pool> pools;
  for (const std::string& text : texts) {
    Result<Pool> pool = parse_pool(text);
    if (!pool.ok()) return Error(Code::kDatabase, "a pool is damaged: " + pool.error().message);
    pools.push_back(std::move(pool).value());
  }
  return pools;
}

Result<std::vector<Json>> read_profiles(Sql& sql, const char* statement,
                                        const std::vector<SqlValue>& values) {
  std::vector<std::string> texts;
  TRY(sql.query(statement, values, [&](const SqlRow& row) { texts.push_back(row.text(0)); }));
  std::vector<Json> rows;
  for (const std::string& text : texts) {
    Result<Json> row = parse_own_json(text);
    if (!row.ok()) return Error(Code::kDatabase, "a hardware profile is damaged");
    rows.push_back(std::move(row).value());
  }
  return rows;
}

}  // namespace

Result<std::optional<Pool>> find_pool(Sql& sql, const std::string& pool) {
  std::vector<Pool> found = TRY(read_pools(sql, "SELECT row FROM pool WHERE pool=?1", {pool}));
  if (found.empty()) return std::optional<Pool>();
  return std::optional<Pool>(std::move(found.front()));
}

Result<Pool> need_pool(Sql& sql, const std::string& pool) {
  std::optional<Pool> found = TRY(find_pool(sql, pool));
  if (found.has_value()) return std::move(*found);
  return Error(Code::kNotFound, "there is no pool \"" + pool.substr(0, 64) + "\"", "pool");
}

Result<std::vector<Pool>> list_pools(Sql& sql, const std::string& after, int64_t limit) {
  return read_pools(sql, "SELECT row FROM pool WHERE pool>?1 ORDER BY pool LIMIT ?2",
                    {after, limit});
}

Result<std::vector<Pool>> pools_of_site(Sql& sql, const std::string& site) {
  return read_pools(sql, "SELECT row FROM pool WHERE site=?1 ORDER BY pool", {site});
}

Result<Json> policy_revision(Sql& sql, const std::string& site, const std::string& pool_id,
                             int64_t revision) {
  std::optional<Pool> pool = TRY(find_pool(sql, pool_id));
  if (!pool.has_value() || pool->site != site) return Json();
  std::string text;
  TRY(sql.query("SELECT policy FROM pool_revision WHERE pool=?1 AND revision=?2",
                {pool_id, revision}, [&](const SqlRow& row) { text = row.text(0); }));
  if (text.empty()) return Json();
  pool->policy = TRY(parse_own_json(text));
  pool->revision = revision;
  return policy_row(*pool);
}

Json policy_row(const Pool& pool) {
  return {{"table", "pool_policy"},    {"schema", 1},         {"pool", pool.pool},
          {"revision", pool.revision}, {"agent", pool.agent}, {"policy", pool.policy}};
}

Status put_pool(Sql& sql, const Pool& pool, int64_t now_ms, const std::string& by) {
  TRY(sql.run("INSERT OR REPLACE INTO pool(pool, site, row) VALUES(?1, ?2, ?3)",
              {pool.pool, pool.site, dump_json(row_of(pool))}));
  return sql.run(
      "INSERT INTO pool_revision(pool, revision, policy, created_at, created_by) VALUES(?1, ?2, "
      "?3, ?4, ?5)",
      {pool.pool, pool.revision, dump_json(pool.policy), now_ms, by});
}

Result<Json> find_profile(Sql& sql, const std::string& profile) {
  std::vector<Json> found = TRY(read_profiles(
      sql, "SELECT row FROM profile_revision WHERE profile=?1 ORDER BY revision DESC LIMIT 1",
      {profile}));
  return found.empty() ? Json() : std::move(found.front());
}

Result<std::vector<Json>> list_profiles(Sql& sql, const std::string& after, int64_t limit) {
  return read_profiles(sql,
                       "SELECT row FROM profile_revision AS newest WHERE profile>?1 AND "
                       "revision=(SELECT max(revision) FROM profile_revision WHERE "
                       "profile=newest.profile) ORDER BY profile LIMIT ?2",
                       {after, limit});
}

Status add_profile(Sql& sql, const Json& row, int64_t now_ms, const std::string& by) {
  std::string profile = TRY(json_string(row, "profile"));
  int64_t revision = TRY(json_int(row, "revision"));
  return sql.run(
      "INSERT INTO profile_revision(profile, revision, row, created_at, created_by) VALUES(?1, ?2, "
      "?3, ?4, ?5)",
      {profile, revision, dump_json(row), now_ms, by});
}

}  // namespace leasehold::store
