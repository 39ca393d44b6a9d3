#include "core/db/row_store.h"

#include <map>

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

// The statements of one table, made once: the connection's cache knows them by their text. The site
// is always ?1, the key ?2.
struct TableSql {
  const TableInfo* info;
  std::string create, index, put, move, erase, get, all, all_of_node, all_below, keys, page, texts;

  explicit TableSql(const TableInfo& table) : info(&table) {
    std::string name = "\"" + std::string(table.name) + "\"";
    std::string node = table.has_node ? ", node" : "";
    std::string node_value = table.has_node ? ", ?5" : "";
    // Not to write the same node again spares the index; a row that moves is written by `move`.
    std::string node_update = table.has_node ? " WHERE node=excluded.node" : "";
    create = "CREATE TABLE IF NOT EXISTS " + name + "(site TEXT NOT NULL, key TEXT NOT NULL" +
             (table.has_node ? ", node TEXT NOT NULL" : "") +
             ", seq INTEGER NOT NULL, row TEXT NOT NULL, PRIMARY KEY(site, key)) WITHOUT ROWID";
    if (has_node_index(table)) {
      index = "CREATE INDEX IF NOT EXISTS \"" + std::string(table.name) + "_node\" ON " + name +
              "(site, node)";
    }
    put = "INSERT INTO " + name + "(site, key, seq, row" + node + ") VALUES(?1, ?2, ?3, ?4" +
          node_value + ") ON CONFLICT(site, key) DO UPDATE SET seq=excluded.seq, row=excluded.row" +
          node_update;
    move = "UPDATE " + name + " SET seq=?3, row=?4" + (table.has_node ? ", node=?5" : "") +
           " WHERE site=?1 AND key=?2";
    erase = "DELETE FROM " + name + " WHERE site=?1 AND key=?2";
    get = "SELECT row FROM " + name + " WHERE site=?1 AND key=?2";
    all = "SELECT row FROM " + name + " WHERE site=?1 ORDER BY key";
    keys = "SELECT key FROM " + name + " WHERE site=?1 ORDER BY key";
    all_below = "SELECT row FROM " + name + " WHERE site=?1 AND key>=?2 AND key<?3 ORDER BY key";
    all_of_node = "SELECT row FROM " + name + " WHERE site=?1 AND node=?2 ORDER BY key";
    page = "SELECT site, key, row FROM " + name +
           " WHERE (site, key)>(?1, ?2) ORDER BY site, key LIMIT ?3";
    texts = "SELECT key, row FROM " + name +
            " WHERE site=?1 AND key>?2 AND (?3='' OR key<=?3) ORDER BY key LIMIT ?4";
  }
};

const std::map<std::string, TableSql, std::less<>>& tables() {
  static const std::map<std::string, TableSql, std::less<>> kTables = [] {
    std::map<std::string, TableSql, std::less<>> made;
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

bool at_coordinator(const Side& side) { return side.self == RowOwner::kCoordinator; }

// May this database write that table by itself?
Status check_owner(const TableSql& table, const Side& side) {
  if (!at_coordinator(side) || table.info->owner == RowOwner::kCoordinator) return {};
  return Error(Code::kForbidden, std::string("table ") + table.info->name + " is the site's own",
               "table");
}

// The peer would never read a larger one, nor anything behind it.
Status check_size(const TableSql& table, const RowChange& change, const std::string& text) {
  if (table.info->owner == RowOwner::kPrivate || text.size() <= limits::kSyncRowBytes) return {};
  return Error(Code::kTooLarge, "row " + change.key + " of " + change.table + " has " +
                                    std::to_string(text.size()) + " bytes; at most " +
                                    std::to_string(limits::kSyncRowBytes) + " are kept");
}

SqlValue text_or_null(const RowChange& change, const std::string& text) {
  return change.row.is_null() ? SqlValue(nullptr) : SqlValue(text);
}

Status prune(Sql& sql, int64_t seq, const Side& side) {
  if (seq % limits::kOutboxPruneEvery != 0) return {};
  return trim_outbox(sql, seq - static_cast<int64_t>(limits::kOutboxRowsWithoutPeer) + 1, side);
}

// SQLite counts: a new row's number is the newest one's and one, which a rollback takes back. The
// newest row is never deleted, or its number would come again. With no peer to read it, the outbox
// must not fill the disk: pruned now and then, not each time.
Result<int64_t> append_outbox(Sql& sql, const RowChange& change, const std::string& text) {
  TRY(sql.run("INSERT INTO outbox(tbl, key, row) VALUES(?1, ?2, ?3)",
              {change.table, change.key, text_or_null(change, text)}));
  int64_t seq = sql.last_insert_id();
  TRY(prune(sql, seq, {}));
  return seq;
}

// A coordinator has a stream per site, each counted in its own row.
Result<int64_t> append_site_outbox(Sql& sql, const RowChange& change, const std::string& text,
                                   const Side& side) {
  int64_t seq = 0;
  TRY(sql.query("UPDATE own_stream SET seq=seq+1 WHERE site=?1 AND restoring=0 RETURNING seq",
                {side.site}, [&](const SqlRow& row) { seq = row.integer(0); }));
  if (seq == 0) {
    TRY(stream(sql, side));
    return Error(Code::kUnavailable, "the rows of site " + side.site +
                                         " are being restored from it; try again when it is back");
  }
  TRY(sql.run("INSERT INTO site_outbox(site, seq, tbl, key, row) VALUES(?1, ?2, ?3, ?4, ?5)",
              {side.site, seq, change.table, change.key, text_or_null(change, text)}));
  TRY(prune(sql, seq, side));
  return seq;
}

Status record_change(Sql& sql, const TableSql& table, int64_t& seq, const RowChange& change,
                     const std::string& text, const Side& side) {
  seq = 0;
  if (table.info->owner != side.self) return {};
  seq = TRY(at_coordinator(side) ? append_site_outbox(sql, change, text, side)
                                 : append_outbox(sql, change, text));
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

Status write_row(Sql& sql, const TableSql& table, const RowChange& change, int64_t seq,
                 std::string text, const Side& side) {
  std::vector<SqlValue> values = {side.site, change.key, seq, std::move(text)};
  if (table.info->has_node) values.emplace_back(json_text(change.row, "node"));
  TRY(sql.run(table.put.c_str(), values));
  if (sql.changes() != 0) return {};
  return sql.run(table.move.c_str(), values);
}

Status refuse_older_form(Sql& sql) {
  bool older = false;
  TRY(sql.query("SELECT 1 FROM sqlite_master WHERE type='table' AND name='stream'", {},
                [&](const SqlRow&) { older = true; }));
  if (!older) return {};
  return Error(Code::kConfig,
               "this database was made by a version before coordinators and is not read; set it "
               "aside, start with an empty folder, and adopt or enrol the machines again");
}

Status create_outbox(Sql& sql, RowOwner self) {
  if (self == RowOwner::kSite) {
    return sql.run(
        "CREATE TABLE IF NOT EXISTS outbox(seq INTEGER PRIMARY KEY, tbl TEXT NOT NULL, key "
        "TEXT NOT NULL, row TEXT)");
  }
  return sql.run(
      "CREATE TABLE IF NOT EXISTS site_outbox(site TEXT NOT NULL, seq INTEGER NOT NULL, tbl TEXT "
      "NOT NULL, key TEXT NOT NULL, row TEXT, PRIMARY KEY(site, seq)) WITHOUT ROWID");
}

}  // namespace

Status migrate(Sql& sql, Random& random, RowOwner self) {
  TRY(refuse_older_form(sql));
  for (const auto& [name, table] : tables()) {
    if (table.info->owner == RowOwner::kPrivate && self != RowOwner::kSite) continue;
    TRY(sql.run(table.create.c_str()));
    if (!table.index.empty()) TRY(sql.run(table.index.c_str()));
  }
  TRY(
      sql.run("CREATE TABLE IF NOT EXISTS own_stream(site TEXT PRIMARY KEY NOT NULL, incarnation "
              "TEXT NOT NULL, seq INTEGER NOT NULL, restoring INTEGER NOT NULL) WITHOUT ROWID"));
  TRY(create_outbox(sql, self));
  if (self != RowOwner::kSite) return {};
  return add_site(sql, {}, random);
}

Status add_site(Sql& sql, const Side& side, Random& random) {
  return sql.run("INSERT OR IGNORE INTO own_stream VALUES(?1, ?2, 0, 0)",
                 {side.site, random_id(random, "1")});
}

Status put(Sql& sql, const RowChange& change, const Side& side) {
  if (change.row.is_null()) return erase(sql, change.table, change.key, side);
  const TableSql* table = TRY(find(change.table));
  TRY(check_owner(*table, side));
  TRY(check(*table->info, change));
  std::string text = dump_json(change.row);
  TRY(check_size(*table, change, text));
  int64_t seq = 0;
  TRY(record_change(sql, *table, seq, change, text, side));
  return write_row(sql, *table, change, seq, std::move(text), side);
}

Status erase(Sql& sql, const std::string& table_name, const std::string& key, const Side& side) {
  const TableSql* table = TRY(find(table_name));
  TRY(check_owner(*table, side));
  TRY(sql.run(table->erase.c_str(), {side.site, key}));
  if (sql.changes() == 0) return {};
  int64_t seq = 0;
  return record_change(sql, *table, seq, RowChange{table_name, key, nullptr}, "", side);
}

Status put_text(Sql& sql, const RowChange& change, const std::string& text, int64_t seq,
                const Side& side) {
  const TableSql* table = TRY(find(change.table));
  if (text.empty()) return sql.run(table->erase.c_str(), {side.site, change.key});
  return write_row(sql, *table, change, seq, text, side);
}

Result<Json> get(Sql& sql, const std::string& table_name, const std::string& key,
                 const Side& side) {
  const TableSql* table = TRY(find(table_name));
  std::string text;
  TRY(sql.query(table->get.c_str(), {side.site, key},
                [&](const SqlRow& row) { text = row.text(0); }));
  if (text.empty()) return Json();
  return parse_stored(table_name, text);
}

Result<std::vector<Json>> all(Sql& sql, const std::string& table_name, const std::string& node,
                              const Side& side) {
  const TableSql* table = TRY(find(table_name));
  if (!node.empty() && !table->info->has_node) {
    return Error(Code::kInvalidInput, "rows of " + table_name + " have no node", "node");
  }
  if (node.empty()) return read_rows(sql, table_name, table->all, {side.site});
  return read_rows(sql, table_name, table->all_of_node, {side.site, node});
}

Result<std::vector<std::string>> keys(Sql& sql, const std::string& table_name, const Side& side) {
  const TableSql* table = TRY(find(table_name));
  std::vector<std::string> found;
  TRY(sql.query(table->keys.c_str(), {side.site},
                [&](const SqlRow& row) { found.push_back(row.text(0)); }));
  return found;
}

Result<std::vector<Json>> all_below(Sql& sql, const std::string& table_name, const std::string& key,
                                    const Side& side) {
  const TableSql* table = TRY(find(table_name));
  // '.' follows '-'.
  return read_rows(sql, table_name, table->all_below, {side.site, key + "-", key + "."});
}

Result<std::vector<PlacedRow>> page(Sql& sql, const std::string& table_name,
                                    const std::string& after_site, const std::string& after_key,
                                    int64_t count) {
  const TableSql* table = TRY(find(table_name));
  std::vector<PlacedRow> rows;
  std::vector<std::string> texts_read;
  TRY(sql.query(table->page.c_str(), {after_site, after_key, count}, [&](const SqlRow& row) {
    rows.push_back({row.text(0), row.text(1), nullptr});
    texts_read.push_back(row.text(2));
  }));
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].row = TRY(parse_stored(table_name, texts_read[i]));
  }
  return rows;
}

Result<std::vector<TextRow>> texts(Sql& sql, const std::string& table_name,
                                   const std::string& after, const std::string& upto, int64_t count,
                                   const Side& side) {
  const TableSql* table = TRY(find(table_name));
  std::vector<TextRow> rows;
  TRY(sql.query(table->texts.c_str(), {side.site, after, upto, count}, [&](const SqlRow& row) {
    rows.push_back({row.text(0), row.text(1)});
  }));
  return rows;
}

}  // namespace leasehold::row_store
