// A whole copy, in chunks. Each chunk asserts a range of one table: in (after, upto] there are
// these rows and no others. The receiver keeps its place in the database, so that it goes on after
// a kill, and ends with the cursor at the number at which the snapshot began: what changed
// meanwhile comes again by the stream. The same chunks bring a restored end its own rows back out
// of the other's copy. Inside a transaction, but for decode_chunk().
#pragma once

#include <optional>

#include "core/sync/stream.h"

namespace leasehold::sync {

// From now on the other end's rows are to come as a snapshot: because the stream cannot go on, or
// because table hashes differ. Nothing if one is wanted already.
Status want_snapshot(Sql& sql, const End& end, Random& random);

// The chunk that was asked for; from the first one if the stream has got another incarnation
// meanwhile. Also answers for a restoring end, out of the copy. UNAVAILABLE while the own rows
// asked for are being restored themselves.
Result<std::string> read_chunk(Sql& sql, const End& end, const ChunkRequest& request,
                               const Bounds& bounds = {});

struct Chunk {
  ChunkRequest request;  // what it answers
  std::string upto;      // a key; "": to the end of the table
  std::string hash;      // of its rows, as in table_hash.h
  std::vector<Entry> rows;
};
Result<Chunk> decode_chunk(std::string_view text);

struct ChunkApplied {
  bool applied = false;              // false: not what is wanted now, nothing changed
  std::optional<ChunkRequest> next;  // empty: nothing more is wanted of that owner
};
// Errors as apply_batch(). The hook sees only rows that differ. A restore that ends begins the own
// stream's next incarnation.
Result<ChunkApplied> apply_chunk(Sql& sql, const End& end, const Chunk& chunk, Random& random,
                                 const Hook& hook = {});

}  // namespace leasehold::sync
