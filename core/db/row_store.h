// The rows of a site as SQL: one table per entry of site_tables(), holding each row as JSON text,
// under the site whose it is. A site's own database keeps that one place empty; a coordinator's
// holds all its sites. A change of an own row takes the next number of that site's stream and is
// put into the outbox, all inside the caller's transaction, so that the numbers have no gaps
// whatever is rolled back. Stateless; called inside a Database transaction only. It judges no
// content: who may change what is decided above.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/db/database.h"
#include "core/rows/row.h"

namespace leasehold::row_store {

// Whose database it is, and which site is meant: "" in a site's own, else the site's name.
struct Side {
  RowOwner self = RowOwner::kSite;
  std::string site;
};

// Creates what is missing; the first time, the incarnation of a site's own stream. Part of a
// migration. CONFIG for a database of an older form, which is not read.
Status migrate(Sql& sql, Random& random, RowOwner self = RowOwner::kSite);
// At a coordinator: the stream towards one more site; nothing if it is there.
Status add_site(Sql& sql, const Side& side, Random& random);

// Writes the row, or deletes it if `change.row` is null. INVALID_INPUT for a table that does not
// exist, a key that does not match the row, or a row without its node. The same row again is a
// change like any other. At a coordinator: FORBIDDEN for a row that is the site's, NOT_FOUND for a
// site that was not added, UNAVAILABLE while the own stream is being restored. A site's database
// also takes the coordinator's rows: without one they come from the local socket.
Status put(Sql& sql, const RowChange& change, const Side& side = {});
// A tombstone; nothing at all if there is no such row.
Status erase(Sql& sql, const std::string& table, const std::string& key, const Side& side = {});

// The row, or null.
Result<Json> get(Sql& sql, const std::string& table, const std::string& key, const Side& side = {});
// In order of key; of one node, if `node` is given (INVALID_INPUT if the table has none).
Result<std::vector<Json>> all(Sql& sql, const std::string& table, const std::string& node = {},
                              const Side& side = {});
// In order. For whoever must not stop at a row that is damaged.
Result<std::vector<std::string>> keys(Sql& sql, const std::string& table, const Side& side = {});
// In order of key: those whose key is `key`, a hyphen and more ("r-1" has "r-1-p1-01").
Result<std::vector<Json>> all_below(Sql& sql, const std::string& table, const std::string& key,
                                    const Side& side = {});

// Rows of all sites, in order of site and key, behind the given place; at most `count`.
struct PlacedRow {
  std::string site;
  std::string key;
  Json row;
};
Result<std::vector<PlacedRow>> page(Sql& sql, const std::string& table,
                                    const std::string& after_site, const std::string& after_key,
                                    int64_t count);

// One entry of a stream. At most limits::kOutboxRowsWithoutPeer are kept for each site.
struct OutboxRow {
  int64_t seq = 0;
  std::string table;
  std::string key;
  std::string text;  // of the row; empty: a tombstone
};
Result<std::vector<OutboxRow>> outbox_after(Sql& sql, int64_t seq, int64_t count,
                                            const Side& side = {});
// Lets go of the entries below this number; never of the newest, or its number would come again.
Status trim_outbox(Sql& sql, int64_t below, const Side& side = {});

// The stream of this database's own rows.
struct Stream {
  std::string incarnation;  // "<epoch>-<16 hex digits>"; a restored database gets the next epoch
  int64_t seq = 0;          // of the newest row
  int64_t kept_from = 0;    // the oldest number still in the outbox; 0 if it is empty
  bool restoring = false;   // own rows are being pulled back: nobody acts on them
};
Result<Stream> stream(Sql& sql, const Side& side = {});
// From here to begin_incarnation(): restoring.
Status begin_restore(Sql& sql, const Side& side = {});
// The restored stream goes on under a new incarnation; what the outbox held is gone.
Status begin_incarnation(Sql& sql, int64_t epoch, Random& random, const Side& side = {});

// For core/sync only: a row as it came, text kept byte by byte, without a number of our own. An
// empty text deletes. `change` has been checked by the caller.
Status put_text(Sql& sql, const RowChange& change, const std::string& text, int64_t seq,
                const Side& side);
struct TextRow {
  std::string key;
  std::string text;
};
// In order of key, behind `after` and up to `upto` ("": to the end); at most `count`.
Result<std::vector<TextRow>> texts(Sql& sql, const std::string& table, const std::string& after,
                                   const std::string& upto, int64_t count, const Side& side = {});

}  // namespace leasehold::row_store
