#include "agent/engine/journal_table.h"

namespace leasehold::journal_table {
namespace {

struct StoredRecord {
  JournalRecord record;
  std::string kind;
  std::string body;
};

Status insert(Sql& sql, const JournalRecord& record) {
  return sql.run(
      "INSERT INTO journal(run, pass, place, attempt, kind, at, body) "
      "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
      {record.run.str(), int64_t{record.pass}, record.place, int64_t{record.attempt},
       std::string(journal_kind_name(record.kind)), record.at_ms, dump_json(record.body)});
}

Result<JournalRecord> parse(StoredRecord stored) {
  std::optional<JournalKind> kind = journal_kind_from(stored.kind);
  Result<Json> body = parse_json(stored.body);
  if (!kind || !body.ok()) {
    return Error(Code::kDatabase,
                 "the journal of run " + stored.record.run.str() + " cannot be read");
  }
  stored.record.kind = *kind;
  stored.record.body = std::move(body).value();
  return std::move(stored.record);
}

}  // namespace

Status migrate(Sql& sql) {
  TRY(
      sql.run("CREATE TABLE IF NOT EXISTS journal(seq INTEGER PRIMARY KEY, run TEXT NOT NULL, "
              "pass INTEGER NOT NULL, place TEXT NOT NULL, attempt INTEGER NOT NULL, kind TEXT NOT "
              "NULL, at INTEGER NOT NULL, body TEXT NOT NULL)"));
  // `first` is where the run's records begin, so that the journal needs no index of its own.
  return sql.run(
      "CREATE TABLE IF NOT EXISTS open_run(run TEXT PRIMARY KEY NOT NULL, node TEXT NOT "
      "NULL UNIQUE, first INTEGER NOT NULL) WITHOUT ROWID");
}

Status open(Sql& sql, const JournalRecord& opened, const NodeId& node) {
  std::string other;
  TRY(sql.query("SELECT run FROM open_run WHERE node=?1 OR run=?2", {node.str(), opened.run.str()},
                [&](const SqlRow& row) { other = row.text(0); }));
  // Law one-run; the table's UNIQUE asserts it once more.
  if (!other.empty()) {
    return Error(Code::kConflict, "node " + node.str() + " has the open run " + other);
  }
  TRY(insert(sql, opened));
  return sql.run("INSERT INTO open_run(run, node, first) VALUES(?1, ?2, ?3)",
                 {opened.run.str(), node.str(), sql.last_insert_id()});
}

Status append(Sql& sql, const JournalRecord& record) {
  TRY(insert(sql, record));
  if (record.kind != JournalKind::kFinished) return {};
  return sql.run("DELETE FROM open_run WHERE run=?1", {record.run.str()});
}

Result<std::vector<RunId>> open_runs(Sql& sql) {
  std::vector<RunId> runs;
  TRY(sql.query("SELECT run FROM open_run ORDER BY first", {},
                [&](const SqlRow& row) { runs.emplace_back(row.text(0)); }));
  return runs;
}

Result<RunState> read(Sql& sql, const RunId& run) {
  std::vector<StoredRecord> stored;
  TRY(
      sql.query("SELECT pass, place, attempt, at, kind, body FROM journal WHERE seq >= (SELECT "
                "first FROM open_run WHERE run=?1) AND run=?1 ORDER BY seq",
                {run.str()}, [&](const SqlRow& row) {
                  JournalRecord record;
                  record.run = run;
                  record.pass = static_cast<int>(row.integer(0));
                  record.place = row.text(1);
                  record.attempt = static_cast<int>(row.integer(2));
                  record.at_ms = row.integer(3);
                  stored.push_back({std::move(record), row.text(4), row.text(5)});
                }));
  if (stored.empty()) return Error(Code::kNotFound, "run " + run.str() + " is not open");
  RunState state;
  for (StoredRecord& one : stored) state = TRY(apply(std::move(state), TRY(parse(std::move(one)))));
  return state;
}

}  // namespace leasehold::journal_table
