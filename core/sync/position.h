// Where one end of the pair (site, coordinator) stands: its own stream, its cursor in the other's,
// and what it wants to be sent as a snapshot. The two ends exchange positions and nothing else to
// find out how to go on (meet.h). The form of each message: docs/protocols.md section 7. The room
// core/sync is pure: it knows no network, no thread and no clock, and is called inside a database
// transaction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/db/row_store.h"

namespace leasehold::sync {

// One end: whose database, and the name of the site that the pair is about. A row that names
// another site is refused by both.
struct End {
  row_store::Side side;
  std::string site;
  // Takes the other's word that this database was restored. A site does; a coordinator does not,
  // or a hostile site could say so and then "give back" rows of its own making.
  bool believes = false;

  static End of_site(const std::string& site) { return {{RowOwner::kSite, ""}, site, true}; }
  static End of_coordinator(const std::string& site) {
    return {{RowOwner::kCoordinator, site}, site, false};
  }
  RowOwner peer() const {
    return side.self == RowOwner::kSite ? RowOwner::kCoordinator : RowOwner::kSite;
  }
};

// Creates this room's tables. Part of a migration, after row_store::migrate().
Status migrate(Sql& sql);

// An entry of a stream. The mark is its SHA-256, hex: another entry under that number is another
// history.
struct Numbered {
  int64_t seq = 0;
  std::string mark = {};  // "" if it is not known, or there was none
};

// Up to where a copy of a stream goes.
struct Cursor {
  std::string incarnation;  // of the stream; "" before the first snapshot
  int64_t seq = 0;
  std::string mark;  // of the entry with that number
  // The newest entry that a snapshot may have brought. Behind it, the copy is the state at `seq`.
  Numbered seen = {};
};

// The next piece of a snapshot, as its receiver asks for it.
struct ChunkRequest {
  RowOwner owner = RowOwner::kCoordinator;  // of the rows; the asking end's own: a restore
  std::string ticket;                       // of this snapshot; a late piece of another has another
  std::string incarnation;                  // "" before the first piece
  int64_t begin = 0;                        // the sequence at which it began
  std::string mark;                         // of the entry with that number
  Numbered seen = {};                       // the newest entry that its pieces may have brought
  std::string table;
  std::string after;  // a key
};

struct Position {
  // The own stream, as row_store::Stream.
  std::string incarnation;
  int64_t seq = 0;
  int64_t kept_from = 0;
  bool restoring = false;
  Cursor peer;  // in the other end's stream
  // At most one of the own rows (a restore) or one of the other's. Whoever is told answers with
  // chunks until no more are wanted.
  std::vector<ChunkRequest> wants;
};
Result<Position> position(Sql& sql, const End& end);

Json cursor_json(const Cursor& cursor);
Result<Cursor> parse_cursor(const Json& json);
Json position_json(const Position& position);
Result<Position> parse_position(const Json& json);  // INVALID_INPUT with the field
Json chunk_request_json(const ChunkRequest& request);
Result<ChunkRequest> parse_chunk_request(const Json& json);

// The number of restores that an incarnation has behind it and one; 0 for "". INVALID_INPUT for
// another form.
Result<int64_t> epoch_of(const std::string& incarnation);

}  // namespace leasehold::sync
