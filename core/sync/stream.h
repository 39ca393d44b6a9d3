// The changes of a stream, in order and without gaps, from its owner's outbox into the other end's
// copy. At least once: a batch that comes twice is skipped, one that comes too early changes
// nothing, and rows and cursor are committed in the caller's one transaction. A row's text crosses
// as it is, byte by byte, members that nobody knows included. Inside a transaction, but for
// decode_batch(), which may run on any thread.
#pragma once

#include <functional>

#include "core/sync/position.h"

namespace leasehold::sync {

struct Bounds {
  int64_t rows = limits::kSyncBatchRows;
  size_t bytes = limits::kSyncBatchBytes;  // gone over by one row at most
};

struct Outgoing {
  bool must_refetch = false;  // the numbers asked for are not kept, or of another incarnation
  std::string text;           // the message
  int64_t upto = 0;           // the number of its last row; the one asked for if there is none
  int64_t head = 0;           // of the newest row
};
// The own rows behind the other end's cursor. UNAVAILABLE while the own stream is restoring;
// CONFLICT if the cursor is ahead of the stream, or marks another entry: whoever asks knows another
// state, so both say hello again.
Result<Outgoing> read_batch(Sql& sql, const End& end, const Cursor& from,
                            const Bounds& bounds = {});

struct Entry {
  RowChange change;
  std::string text;  // empty: a tombstone
};
struct Batch {
  bool must_refetch = false;  // and nothing else
  std::string incarnation;
  int64_t after = 0;  // its rows have the numbers that follow
  std::string mark;   // of the entry with that number, if its sender still has it
  int64_t head = 0;   // of the sender's newest row
  std::vector<Entry> rows;
};
// Strict: MALFORMED, TOO_LARGE, or INVALID_INPUT naming what is wrong.
Result<Batch> decode_batch(std::string_view text);

// What the receiver's domain does with a row that has just been written, or deleted (row null), in
// the same transaction. Its error undoes the batch.
using Hook = std::function<Status(Sql&, const RowChange&)>;

struct Applied {
  Cursor cursor;
  int64_t rows = 0;           // that were new
  bool gap = false;           // rows before these are missing: send from the cursor
  bool must_refetch = false;  // a snapshot comes first (position().wants)
};
// SUPERSEDED: of an incarnation that has been retired. INVALID_INPUT: a table that this version
// does not know, another schema. FORBIDDEN: a row that is not the sender's, or of another site.
// UNAVAILABLE: while the own stream is restoring. CONFLICT: what came under known numbers differs
// from what is known, say hello again. An error must undo the caller's transaction.
Result<Applied> apply_batch(Sql& sql, const End& end, const Batch& batch, const Hook& hook = {});

// The other end has all up to `seq`: the outbox lets go of what lies before, a few hundred at a
// time. Nothing for another incarnation.
Status acknowledge(Sql& sql, const End& end, const std::string& incarnation, int64_t seq);

}  // namespace leasehold::sync
