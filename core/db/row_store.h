// The rows of a site as SQL: one table per entry of site_tables(), holding each row as JSON text. A
// change of a site's own row takes the next number of the site's stream and is put into the outbox,
// all inside the caller's transaction, so that the numbers have no gaps whatever is rolled back.
// Stateless; called inside a Database transaction only. It judges no content: who may change what
// is decided above.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/db/database.h"
#include "core/rows/row.h"

namespace leasehold::row_store {

// Creates what is missing; the first time, the incarnation of this database. Part of a migration.
Status migrate(Sql& sql, Random& random);

// Writes the row, or deletes it if `change.row` is null. INVALID_INPUT for a table that does not
// exist, a key that does not match the row, or a row without its node. The same row again is a
// change like any other.
Status put(Sql& sql, const RowChange& change);
// A tombstone; nothing at all if there is no such row.
Status erase(Sql& sql, const std::string& table, const std::string& key);

// The row, or null.
Result<Json> get(Sql& sql, const std::string& table, const std::string& key);
// In order of key; of one node, if `node` is given (INVALID_INPUT if the table has none).
Result<std::vector<Json>> all(Sql& sql, const std::string& table, const std::string& node = {});
// In order. For whoever must not stop at a row that is damaged.
Result<std::vector<std::string>> keys(Sql& sql, const std::string& table);
// In order of key: those whose key is `key`, a hyphen and more ("r-1" has "r-1-p1-01").
Result<std::vector<Json>> all_below(Sql& sql, const std::string& table, const std::string& key);

// One entry of the site's stream. At most limits::kOutboxRowsWithoutPeer are kept.
struct OutboxRow {
  int64_t seq = 0;
  RowChange change;
};
Result<std::vector<OutboxRow>> outbox_after(Sql& sql, int64_t seq, int64_t count);

struct Stream {
  std::string incarnation;  // of this database; a restored one gets a new one
  int64_t seq = 0;          // of the newest row
  int64_t kept_from = 0;    // the oldest number still in the outbox; 0 if it is empty
};
Result<Stream> stream(Sql& sql);

}  // namespace leasehold::row_store
