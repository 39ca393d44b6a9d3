#include "coordinator/store/evidence.h"

namespace leasehold::store {
namespace {

constexpr const char* kByRun =
    "SELECT site, run, node, lease, digest, seq, verdict, reason, policy_revision, received_at, n "
    "FROM evidence WHERE site=?1 AND run=?2";
constexpr const char* kNewest =
    "SELECT site, run, node, lease, digest, seq, verdict, reason, policy_revision, received_at, n "
    "FROM evidence WHERE site=?1 AND node=?2 ORDER BY n DESC LIMIT 1";
constexpr const char* kList =
    "SELECT site, run, node, lease, digest, seq, verdict, reason, policy_revision, received_at, n "
    "FROM evidence WHERE (?1='' OR site=?1) AND (?2='' OR node=?2) AND (?3=0 OR n<?3) ORDER BY n "
    "DESC LIMIT ?4";

Result<std::vector<Evidence>> read(Sql& sql, const char* statement,
                                   const std::vector<SqlValue>& values) {
  std::vector<Evidence> found;
  TRY(sql.query(statement, values, [&](const SqlRow& row) {
    found.push_back({row.text(0), row.text(1), row.text(2), row.text(3), row.text(4),
                     row.integer(5), row.text(6), row.text(7), row.integer(8), row.integer(9),
                     row.integer(10)});
  }));
  return found;
}

Result<std::optional<Evidence>> read_one(Sql& sql, const char* statement,
                                         const std::vector<SqlValue>& values) {
  std::vector<Evidence> found = TRY(read(sql, statement, values));
  if (found.empty()) return std::optional<Evidence>();
  return std::optional<Evidence>(std::move(found.front()));
}

}  // namespace

Status add_evidence(Sql& sql, const Evidence& evidence) {
  return sql.run(
      "INSERT INTO evidence(site, run, node, lease, digest, seq, verdict, reason, "
      "policy_revision, received_at, n) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, (SELECT "
      "ifnull(max(n), 0)+1 FROM evidence))",
      {evidence.site, evidence.run, evidence.node, evidence.lease, evidence.digest, evidence.seq,
       evidence.verdict, evidence.reason, evidence.policy_revision, evidence.received_at_ms});
}

Status put_evidence_seq(Sql& sql, const std::string& site, const std::string& run, int64_t seq) {
  return sql.run("UPDATE evidence SET seq=?3 WHERE site=?1 AND run=?2", {site, run, seq});
}

Result<std::optional<Evidence>> find_evidence(Sql& sql, const std::string& site,
                                              const std::string& run) {
  return read_one(sql, kByRun, {site, run});
}

Result<std::optional<Evidence>> newest_evidence(Sql& sql, const std::string& site,
                                                const std::string& node) {
  return read_one(sql, kNewest, {site, node});
}

Result<std::vector<Evidence>> list_evidence(Sql& sql, const EvidenceQuery& query) {
  return read(sql, kList, {query.site, query.node, query.before, query.limit});
}

Result<ChainHead> chain_head(Sql& sql, const std::string& site) {
  ChainHead head;
  TRY(sql.query("SELECT seq, digest FROM evidence_chain WHERE site=?1", {site},
                [&](const SqlRow& row) {
                  head = {row.integer(0), row.text(1)};
                }));
  return head;
}

Status put_chain_head(Sql& sql, const std::string& site, const ChainHead& head) {
  return sql.run("INSERT OR REPLACE INTO evidence_chain(site, seq, digest) VALUES(?1, ?2, ?3)",
                 {site, head.seq, head.digest});
}

Status add_pending(Sql& sql, const std::string& site, const std::string& run) {
  return sql.run("INSERT OR IGNORE INTO evidence_pending(site, run) VALUES(?1, ?2)", {site, run});
}

Status drop_pending(Sql& sql, const std::string& site, const std::string& run) {
  return sql.run("DELETE FROM evidence_pending WHERE site=?1 AND run=?2", {site, run});
}

Result<std::vector<std::string>> pending_of(Sql& sql, const std::string& site) {
  std::vector<std::string> runs;
  TRY(sql.query("SELECT run FROM evidence_pending WHERE site=?1 ORDER BY run", {site},
                [&](const SqlRow& row) { runs.push_back(row.text(0)); }));
  return runs;
}

}  // namespace leasehold::store
