#include "core/db/row_store.h"

// The streams of the store's own rows; the rows themselves are in row_store.cc.
namespace leasehold::row_store {
namespace {

bool at_coordinator(const Side& side) { return side.self == RowOwner::kCoordinator; }

Status require_stream(Sql& sql, const Side& side) {
  if (sql.changes() != 0) return {};
  return Error(Code::kNotFound, "there is no site \"" + side.site + "\"", "site");
}

}  // namespace

Result<std::vector<OutboxRow>> outbox_after(Sql& sql, int64_t seq, int64_t count,
                                            const Side& side) {
  std::vector<OutboxRow> rows;
  auto take = [&](const SqlRow& row) {
    rows.push_back({row.integer(0), row.text(1), row.text(2), row.text(3)});
  };
  if (at_coordinator(side)) {
    TRY(
        sql.query("SELECT seq, tbl, key, row FROM site_outbox WHERE site=?1 AND seq>?2 ORDER BY "
                  "seq LIMIT ?3",
                  {side.site, seq, count}, take));
  } else {
    TRY(sql.query("SELECT seq, tbl, key, row FROM outbox WHERE seq>?1 ORDER BY seq LIMIT ?2",
                  {seq, count}, take));
  }
  return rows;
}

Status trim_outbox(Sql& sql, int64_t below, const Side& side) {
  if (at_coordinator(side)) {
    return sql.run(
        "DELETE FROM site_outbox WHERE site=?1 AND seq<?2 AND seq<(SELECT max(seq) FROM "
        "site_outbox WHERE site=?1)",
        {side.site, below});
  }
  return sql.run("DELETE FROM outbox WHERE seq<?1 AND seq<(SELECT max(seq) FROM outbox)", {below});
}

Result<Stream> stream(Sql& sql, const Side& side) {
  Stream found;
  auto take = [&](const SqlRow& row) {
    found = {row.text(0), row.integer(1), row.integer(2), row.integer(3) != 0};
  };
  if (at_coordinator(side)) {
    TRY(
        sql.query("SELECT incarnation, seq, (SELECT ifnull(min(seq), 0) FROM site_outbox WHERE "
                  "site=?1), restoring FROM own_stream WHERE site=?1",
                  {side.site}, take));
    if (!found.incarnation.empty()) return found;
    return Error(Code::kNotFound, "there is no site \"" + side.site + "\"", "site");
  }
  TRY(
      sql.query("SELECT incarnation, (SELECT ifnull(max(seq), 0) FROM outbox), (SELECT "
                "ifnull(min(seq), 0) FROM outbox), restoring FROM own_stream WHERE site=''",
                {}, take));
  if (!found.incarnation.empty()) return found;
  return Error(Code::kDatabase, "the site's stream is missing from the database");
}

Status begin_restore(Sql& sql, const Side& side) {
  TRY(sql.run("UPDATE own_stream SET restoring=1 WHERE site=?1", {side.site}));
  return require_stream(sql, side);
}

Status begin_incarnation(Sql& sql, int64_t epoch, Random& random, const Side& side) {
  TRY(sql.run("UPDATE own_stream SET incarnation=?2, restoring=0 WHERE site=?1",
              {side.site, random_id(random, std::to_string(epoch))}));
  TRY(require_stream(sql, side));
  return trim_outbox(sql, INT64_MAX, side);
}

}  // namespace leasehold::row_store
