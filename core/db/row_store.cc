#include "core/db/row_store.h"

#include <map>

#include "core/base/ids.h"
#include "core/base/limits.h"

namespace leasehold::row_store {
namespace {

Result<Json> parse_stored(const std::string& table, const std::string& text) {
  Result<Json> row = parse_own_json(text);
  if (!row.ok()) return Error(Code::kDatabase, "a row of " + table + " is damaged");
  return row;
}

Result<std::vector<Json>> read_rows(Sql& sql, const std::string& table,
                                    const std::string& statement,
                                    const std::vector<SqlValue>& values) {
  std::vector<std::string> texts;
  TRY(sql.query(statement.c_str(), values,
                [&](const SqlRow& row) { texts.push_back(row.text(0)); }));
  std::vector<Json> rows;
  for (const std::string& text : texts) rows.push_back(TRY(parse_stored(table, text)));
  return rows;
}

// Rows of these are found by their run (all_below): an index by node would be one more page that
// every step writes.
bool has_node_index(const TableInfo& table) {
  std::string_view name = table.name;
  return table.has_node && name != "step" && name != "result";
}

// The statements of one table, made once: the connection's cache knows them by their text.
struct TableSql {
  const TableInfo* info;
  std::string create, index, put, move, erase, get, all, all_of_node, all_below, keys;

  explicit TableSql(const TableInfo& table) : info(&table) {
    std::string name = "\"" + std::string(table.name) + "\"";
    std::string node = table.has_node ? ", node" : "";
    std::string node_value = table.has_node ? ", ?4" : "";
    // Not to write the same node again spares the index; a row that moves is written by `move`.
    std::string node_update = table.has_node ? " WHERE node=excluded.node" : "";
    create = "CREATE TABLE IF NOT EXISTS " + name + "(key TEXT PRIMARY KEY NOT NULL" +
             (table.has_node ? ", node TEXT NOT NULL" : "") +
             ", seq INTEGER NOT NULL, row TEXT NOT NULL) WITHOUT ROWID";
    if (has_node_index(table)) {
      index = "CREATE INDEX IF NOT EXISTS \"" + std::string(table.name) + "_node\" ON " + name +
              "(node)";
    }
    put = "INSERT INTO " + name + "(key, seq, row" + node + ") VALUES(?1, ?2, ?3" + node_value +
          ") ON CONFLICT(key) DO UPDATE SET seq=excluded.seq, row=excluded.row" + node_update;
    move = "UPDATE " + name + " SET seq=?2, row=?3" + (table.has_node ? ", node=?4" : "") +
           " WHERE key=?1";
    erase = "DELETE FROM " + name + " WHERE key=?1";
    get = "SELECT row FROM " + name + " WHERE key=?1";
    all = "SELECT row FROM " + name + " ORDER BY key";
    keys = "SELECT key FROM " + name + " ORDER BY key";
    all_below = "SELECT row FROM " + name + " WHERE key>=?1 AND key<?2 ORDER BY key";
    all_of_node = "SELECT row FROM " + name + " WHERE node=?1 ORDER BY key";
  }
};

const std::map<std::string, TableSql>& tables() {
  static const std::map<std::string, TableSql> kTables = [] {
    std::map<std::string, TableSql> made;
    for (const TableInfo& table : site_tables()) made.emplace(table.name, TableSql(table));
    return made;
  }();
  return kTables;
}

Result<const TableSql*> find(const std::string& table) {
  auto found = tables().find(table);
  if (found == tables().end()) {
    return Error(Code::kInvalidInput, "there is no table \"" + table + "\"", "table");
  }
  return &found->second;
}

// SQLite counts: a new row's number is the newest one's and one, which a rollback takes back. The
// newest row is never deleted, or its number would come again. With no peer to read it, the outbox
// must not fill the disk: pruned now and then, not each time.
Result<int64_t> append_outbox(Sql& sql, const RowChange& change, const std::string& text) {
  SqlValue row = change.row.is_null() ? SqlValue(nullptr) : SqlValue(text);
  TRY(sql.run("INSERT INTO outbox(tbl, key, row) VALUES(?1, ?2, ?3)",
              {change.table, change.key, std::move(row)}));
  int64_t seq = sql.last_insert_id();
  if (seq % limits::kOutboxPruneEvery != 0) return seq;
  int64_t oldest = seq - static_cast<int64_t>(limits::kOutboxRowsWithoutPeer);
  TRY(sql.run("DELETE FROM outbox WHERE seq <= ?1", {oldest}));
  return seq;
}

Status record_change(Sql& sql, const TableSql& table, int64_t& seq, const RowChange& change,
                     const std::string& text) {
  seq = 0;
  if (table.info->owner != RowOwner::kSite) return {};
  seq = TRY(append_outbox(sql, change, text));
  return {};
}

Status check(const TableInfo& table, const RowChange& change) {
  if (json_text(change.row, table.key) != change.key || change.key.empty()) {
    return Error(Code::kInvalidInput,
                 "a row of " + change.table + " must say its key in \"" + table.key + "\"",
                 table.key);
  }
  if (table.has_node && json_text(change.row, "node").empty()) {
    return Error(Code::kInvalidInput, "a row of " + change.table + " must name its node", "node");
  }
  return {};
}

}  // namespace

Status migrate(Sql& sql, Random& random) {
  for (const auto& [name, table] : tables()) {
    TRY(sql.run(table.create.c_str()));
    if (!table.index.empty()) TRY(sql.run(table.index.c_str()));
  }
  TRY(
      sql.run("CREATE TABLE IF NOT EXISTS stream(name TEXT PRIMARY KEY NOT NULL, incarnation TEXT "
              "NOT NULL) WITHOUT ROWID"));
  TRY(
      sql.run("CREATE TABLE IF NOT EXISTS outbox(seq INTEGER PRIMARY KEY, tbl TEXT NOT NULL, key "
              "TEXT NOT NULL, row TEXT)"));
  return sql.run("INSERT OR IGNORE INTO stream VALUES('site', ?1)", {random_id(random, "i")});
}

Status put(Sql& sql, const RowChange& change) {
  if (change.row.is_null()) return erase(sql, change.table, change.key);
  const TableSql* table = TRY(find(change.table));
  TRY(check(*table->info, change));
  std::string text = dump_json(change.row);
  int64_t seq = 0;
  TRY(record_change(sql, *table, seq, change, text));
  std::vector<SqlValue> values = {change.key, seq, std::move(text)};
  if (table->info->has_node) values.emplace_back(json_text(change.row, "node"));
  TRY(sql.run(table->put.c_str(), values));
  if (sql.changes() != 0) return {};
  return sql.run(table->move.c_str(), values);
}

Status erase(Sql& sql, const std::string& table_name, const std::string& key) {
  const TableSql* table = TRY(find(table_name));
  TRY(sql.run(table->erase.c_str(), {key}));
  if (sql.changes() == 0) return {};
  int64_t seq = 0;
  return record_change(sql, *table, seq, RowChange{table_name, key, nullptr}, "");
}

Result<Json> get(Sql& sql, const std::string& table_name, const std::string& key) {
  const TableSql* table = TRY(find(table_name));
  std::string text;
  TRY(sql.query(table->get.c_str(), {key}, [&](const SqlRow& row) { text = row.text(0); }));
  if (text.empty()) return Json();
  return parse_stored(table_name, text);
}

Result<std::vector<Json>> all(Sql& sql, const std::string& table_name, const std::string& node) {
  const TableSql* table = TRY(find(table_name));
  if (!node.empty() && !table->info->has_node) {
    return Error(Code::kInvalidInput, "rows of " + table_name + " have no node", "node");
  }
  if (node.empty()) return read_rows(sql, table_name, table->all, {});
  return read_rows(sql, table_name, table->all_of_node, {node});
}

Result<std::vector<std::string>> keys(Sql& sql, const std::string& table_name) {
  const TableSql* table = TRY(find(table_name));
  std::vector<std::string> found;
  TRY(sql.query(table->keys.c_str(), {}, [&](const SqlRow& row) { found.push_back(row.text(0)); }));
  return found;
}

Result<std::vector<Json>> all_below(Sql& sql, const std::string& table_name,
                                    const std::string& key) {
  const TableSql* table = TRY(find(table_name));
  // '.' follows '-'.
  return read_rows(sql, table_name, table->all_below, {key + "-", key + "."});
}

Result<std::vector<OutboxRow>> outbox_after(Sql& sql, int64_t seq, int64_t count) {
  std::vector<OutboxRow> rows;
  std::vector<std::string> texts;
  TRY(sql.query("SELECT seq, tbl, key, row FROM outbox WHERE seq>?1 ORDER BY seq LIMIT ?2",
                {seq, count}, [&](const SqlRow& row) {
                  rows.push_back({row.integer(0), {row.text(1), row.text(2), nullptr}});
                  texts.push_back(row.is_null(3) ? std::string() : row.text(3));
                }));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!texts[i].empty()) rows[i].change.row = TRY(parse_stored(rows[i].change.table, texts[i]));
  }
  return rows;
}

Result<Stream> stream(Sql& sql) {
  Stream found;
  TRY(
      sql.query("SELECT incarnation, (SELECT ifnull(max(seq), 0) FROM outbox), (SELECT "
                "ifnull(min(seq), 0) FROM outbox) FROM stream WHERE name='site'",
                {}, [&](const SqlRow& row) {
                  found = {row.text(0), row.integer(1), row.integer(2)};
                }));
  if (found.incarnation.empty()) {
    return Error(Code::kDatabase, "the site's stream is missing from the database");
  }
  return found;
}

}  // namespace leasehold::row_store
