#include "core/sync/state.h"

namespace leasehold::sync {

Status migrate(Sql& sql) {
  TRY(
      sql.run("CREATE TABLE IF NOT EXISTS peer_cursor(site TEXT PRIMARY KEY NOT NULL, incarnation "
              "TEXT NOT NULL, seq INTEGER NOT NULL, mark TEXT NOT NULL, seen INTEGER NOT NULL, "
              "seen_mark TEXT NOT NULL) WITHOUT ROWID"));
  return sql.run(
      "CREATE TABLE IF NOT EXISTS wanted(site TEXT NOT NULL, owner TEXT NOT NULL, ticket TEXT NOT "
      "NULL, incarnation TEXT NOT NULL, began INTEGER NOT NULL, mark TEXT NOT NULL, seen INTEGER "
      "NOT NULL, seen_mark TEXT NOT NULL, tbl TEXT NOT NULL, after TEXT NOT NULL, PRIMARY "
      "KEY(site, "
      "owner)) WITHOUT ROWID");
}

Result<Cursor> read_cursor(Sql& sql, const End& end) {
  Cursor cursor;
  TRY(sql.query(
      "SELECT incarnation, seq, mark, seen, seen_mark FROM peer_cursor WHERE site=?1",
      {end.side.site}, [&](const SqlRow& row) {
        cursor = {row.text(0), row.integer(1), row.text(2), {row.integer(3), row.text(4)}};
      }));
  return cursor;
}

Status write_cursor(Sql& sql, const End& end, const Cursor& cursor) {
  return sql.run("INSERT OR REPLACE INTO peer_cursor VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
                 {end.side.site, cursor.incarnation, cursor.seq, cursor.mark, cursor.seen.seq,
                  cursor.seen.mark});
}

Result<std::optional<ChunkRequest>> read_want(Sql& sql, const End& end, RowOwner owner) {
  std::optional<ChunkRequest> want;
  TRY(sql.query(
      "SELECT ticket, incarnation, began, mark, seen, seen_mark, tbl, after FROM wanted WHERE "
      "site=?1 AND owner=?2",
      {end.side.site, owner_name(owner)}, [&](const SqlRow& row) {
        want = ChunkRequest{owner,          row.text(0), row.text(1),
                            row.integer(2), row.text(3), {row.integer(4), row.text(5)},
                            row.text(6),    row.text(7)};
      }));
  return want;
}

Status write_want(Sql& sql, const End& end, const ChunkRequest& want) {
  return sql.run("INSERT OR REPLACE INTO wanted VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                 {end.side.site, owner_name(want.owner), want.ticket, want.incarnation, want.begin,
                  want.mark, want.seen.seq, want.seen.mark, want.table, want.after});
}

Status drop_want(Sql& sql, const End& end, RowOwner owner) {
  return sql.run("DELETE FROM wanted WHERE site=?1 AND owner=?2",
                 {end.side.site, owner_name(owner)});
}

Status add_want(Sql& sql, const End& end, RowOwner owner, Random& random) {
  std::optional<ChunkRequest> known = TRY(read_want(sql, end, owner));
  if (known) return {};
  ChunkRequest want;
  want.owner = owner;
  want.ticket = random_id(random, "t");
  want.table = tables_of(owner).front()->name;
  return write_want(sql, end, want);
}

const char* owner_name(RowOwner owner) {
  return owner == RowOwner::kCoordinator ? "coordinator" : "site";
}

Result<RowOwner> owner_from(const std::string& name) {
  if (name == "coordinator") return RowOwner::kCoordinator;
  if (name == "site") return RowOwner::kSite;
  return Error(Code::kInvalidInput, "an owner is \"coordinator\" or \"site\"", "owner");
}

std::vector<const TableInfo*> tables_of(RowOwner owner) {
  std::vector<const TableInfo*> tables;
  for (const TableInfo& table : site_tables()) {
    if (table.owner == owner) tables.push_back(&table);
  }
  return tables;
}

}  // namespace leasehold::sync
