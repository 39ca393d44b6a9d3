#include "coordinator/store/indexes.h"

namespace leasehold::store {

Status index_node(Sql& sql, const std::string& site, const std::string& node, const Json& row) {
  if (row.is_null()) {
    return sql.run("DELETE FROM node_index WHERE site=?1 AND node=?2", {site, node});
  }
  return sql.run(
      "INSERT INTO node_index(site, node, pool, state) VALUES(?1, ?2, ?3, ?4) ON CONFLICT(site, "
      "node) DO UPDATE SET pool=excluded.pool, state=excluded.state",
      {site, node, json_text(row, "pool"), json_text(row, "state")});
}

Result<std::vector<NodeKey>> list_nodes(Sql& sql, const NodeQuery& query) {
  std::vector<NodeKey> found;
  TRY(sql.query(
      "SELECT site, node, open_run FROM node_index WHERE (?1='' OR site=?1) AND (?2='' OR "
      "pool=?2) AND (?3='' OR state=?3) AND (site, node)>(?4, ?5) ORDER BY site, node LIMIT ?6",
      {query.site, query.pool, query.state, query.after_site, query.after_node, query.limit},
      [&](const SqlRow& row) {
        found.push_back({row.text(0), row.text(1), row.text(2)});
      }));
  return found;
}

Result<std::optional<NodeKey>> find_node(Sql& sql, const std::string& site,
                                         const std::string& node) {
  std::optional<NodeKey> found;
  TRY(sql.query("SELECT site, node, open_run FROM node_index WHERE site=?1 AND node=?2",
                {site, node}, [&](const SqlRow& row) {
                  found = NodeKey{row.text(0), row.text(1), row.text(2)};
                }));
  return found;
}

Status index_run(Sql& sql, const std::string& site, const std::string& run, const Json& row) {
  TRY(sql.run("DELETE FROM run_index WHERE site=?1 AND run=?2", {site, run}));
  TRY(sql.run("UPDATE node_index SET open_run='' WHERE site=?1 AND open_run=?2", {site, run}));
  if (row.is_null()) return {};
  const std::string node = json_text(row, "node");
  const std::string state = json_text(row, "state");
  TRY(sql.run(
      "INSERT INTO run_index(started_at, site, run, node, state) VALUES(?1, ?2, ?3, ?4, ?5)",
      {json_text(row, "startedAt"), site, run, node, state}));
  if (state != "open") return {};
  return sql.run("UPDATE node_index SET open_run=?3 WHERE site=?1 AND node=?2", {site, node, run});
}

Result<std::vector<RunKey>> list_runs(Sql& sql, const RunQuery& query) {
  const RunKey before = query.before.value_or(RunKey{"~", "", ""});  // after every time
  std::vector<RunKey> found;
  TRY(sql.query(
      "SELECT started_at, site, run FROM run_index WHERE (?1='' OR site=?1) AND (?2='' OR "
      "node=?2) AND (?3='' OR state=?3) AND (started_at, site, run)<(?4, ?5, ?6) ORDER BY "
      "started_at DESC, site DESC, run DESC LIMIT ?7",
      {query.site, query.node, query.state, before.started_at, before.site, before.run,
       query.limit},
      [&](const SqlRow& row) {
        found.push_back({row.text(0), row.text(1), row.text(2)});
      }));
  return found;
}

Result<Counts> count_all(Sql& sql) {
  Counts counts;
  TRY(
      sql.query("SELECT (SELECT count(*) FROM node_index), (SELECT count(*) FROM node_index WHERE "
                "open_run<>'')",
                {}, [&](const SqlRow& row) {
                  counts = {row.integer(0), row.integer(1)};
                }));
  return counts;
}

Status add_work(Sql& sql, const Work& work) {
  return sql.run(
      "INSERT INTO work_index(work, site, node, kind, created_at) VALUES(?1, ?2, ?3, ?4, ?5)",
      {work.work, work.site, work.node, work.kind, work.created_at_ms});
}

Status answer_work(Sql& sql, const std::string& site, const std::string& work, int64_t at_ms) {
  return sql.run("UPDATE work_index SET answered_at=?3 WHERE work=?2 AND site=?1 AND answered_at=0",
                 {site, work, at_ms});
}

Result<bool> has_unanswered_work(Sql& sql, const std::string& site, const std::string& node,
                                 const std::string& kind) {
  bool found = false;
  TRY(sql.query(
      "SELECT 1 FROM work_index WHERE site=?1 AND node=?2 AND kind=?3 AND answered_at=0 LIMIT 1",
      {site, node, kind}, [&](const SqlRow&) { found = true; }));
  return found;
}

Result<std::optional<Work>> find_work(Sql& sql, const std::string& work) {
  std::optional<Work> found;
  TRY(
      sql.query("SELECT work, site, node, kind, created_at, answered_at FROM work_index WHERE "
                "work=?1",
                {work}, [&](const SqlRow& row) {
                  found = Work{row.text(0), row.text(1),    row.text(2),
                               row.text(3), row.integer(4), row.integer(5)};
                }));
  return found;
}

}  // namespace leasehold::store
