#include "core/sync/snapshot.h"

#include <algorithm>

#include "core/sync/mark.h"
#include "core/sync/message.h"
#include "core/sync/state.h"
#include "core/sync/table_hash.h"

namespace leasehold::sync {
namespace {

// The rows of a range as they are, page by page, so that a long one need not fit into memory.
class Range {
 public:
  Range(Sql& sql, const End& end, const Chunk& chunk)
      : sql_(sql), end_(end), table_(chunk.request.table), upto_(chunk.upto) {
    after_ = chunk.request.after;
  }
  // Null behind the last.
  Result<const row_store::TextRow*> next() {
    if (at_ == page_.size() && more_) TRY(turn());
    return at_ == page_.size() ? nullptr : &page_[at_];
  }
  void skip() { ++at_; }

 private:
  Status turn() {
    page_ = TRY(row_store::texts(sql_, table_, after_, upto_, limits::kSyncReadRows, end_.side));
    at_ = 0;
    more_ = page_.size() == static_cast<size_t>(limits::kSyncReadRows);
    if (!page_.empty()) after_ = page_.back().key;
    return {};
  }
  Sql& sql_;
  const End& end_;
  std::string table_, after_, upto_;
  std::vector<row_store::TextRow> page_;
  size_t at_ = 0;
  bool more_ = true;
};

Status put_entry(Sql& sql, const End& end, const Chunk& chunk, const RowChange& change,
                 const std::string& text, const Hook& hook) {
  TRY(row_store::put_text(sql, change, text, chunk.request.begin, end.side));
  return hook ? hook(sql, change) : Status();
}

// Rows that are alike stay untouched, others are written, what the chunk does not hold goes.
Status assert_range(Sql& sql, const End& end, const Chunk& chunk, const Hook& hook) {
  Range range(sql, end, chunk);
  auto entry = chunk.rows.begin();
  while (true) {
    const row_store::TextRow* there = TRY(range.next());
    if (there == nullptr && entry == chunk.rows.end()) return {};
    int order = there == nullptr            ? 1
                : entry == chunk.rows.end() ? -1
                                            : there->key.compare(entry->change.key);
    if (order < 0) {
      RowChange gone{chunk.request.table, there->key, nullptr};
      TRY(put_entry(sql, end, chunk, gone, "", hook));
    } else if (order > 0 || there->text != entry->text) {
      TRY(put_entry(sql, end, chunk, entry->change, entry->text, hook));
    }
    if (order <= 0) range.skip();
    if (order >= 0) ++entry;
  }
}

Status check_result(Sql& sql, const End& end, const Chunk& chunk) {
  Range range(sql, end, chunk);
  RowsHash hash;
  while (const row_store::TextRow* row = TRY(range.next())) {
    hash.add(row->key, row->text);
    range.skip();
  }
  if (hash.hex() == chunk.hash) return {};
  return Error(Code::kMalformed,
               "the copy of " + chunk.request.table + " is not what the chunk's hash says", "hash");
}

Status check_rows(const End& end, const Chunk& chunk) {
  const std::string* before = &chunk.request.after;
  for (const Entry& entry : chunk.rows) {
    const std::string& key = entry.change.key;
    bool good = !entry.text.empty() && entry.change.table == chunk.request.table && key > *before &&
                (chunk.upto.empty() || key <= chunk.upto);
    if (!good) return Error(Code::kInvalidInput, "row " + key + " is not of its chunk", "rows");
    TRY(check_entry(end, chunk.request.owner, entry));
    before = &key;
  }
  return {};
}

bool is_first(const ChunkRequest& request) {
  return request.after.empty() && request.table == tables_of(request.owner).front()->name;
}

// The piece that is wanted; or the first one of a snapshot that its sender had to begin later.
Result<bool> fits(const ChunkRequest& want, const ChunkRequest& piece) {
  if (piece.ticket != want.ticket) return false;
  if (piece.incarnation == want.incarnation && piece.begin == want.begin &&
      piece.table == want.table && piece.after == want.after) {
    return true;
  }
  int64_t known = TRY(epoch_of(want.incarnation));
  int64_t told = TRY(epoch_of(piece.incarnation));
  if (!is_first(piece) || told < known) return false;
  return told > known || (piece.incarnation == want.incarnation && piece.begin > want.begin);
}

// No snapshot takes a copy back to what it was.
Status check_newer(Sql& sql, const End& end, const ChunkRequest& piece) {
  Cursor cursor = TRY(read_cursor(sql, end));
  int64_t known = TRY(epoch_of(cursor.incarnation));
  int64_t told = TRY(epoch_of(piece.incarnation));
  bool same = piece.incarnation == cursor.incarnation;
  if (told > known || (same && piece.begin >= std::max(cursor.seq, cursor.seen.seq))) return {};
  return Error(Code::kSuperseded, "incarnation " + piece.incarnation + " at " +
                                      std::to_string(piece.begin) + " is older than the copy");
}

Status finish(Sql& sql, const End& end, const ChunkRequest& piece, Random& random) {
  TRY(drop_want(sql, end, piece.owner));
  if (piece.owner != end.side.self) {
    return write_cursor(sql, end, {piece.incarnation, piece.begin, piece.mark, piece.seen});
  }
  row_store::Stream own = TRY(row_store::stream(sql, end.side));
  int64_t mine = TRY(epoch_of(own.incarnation));
  int64_t copy = TRY(epoch_of(piece.incarnation));
  return row_store::begin_incarnation(sql, std::max(mine, copy) + 1, random, end.side);
}

// The place behind this chunk; empty at the end of the last table.
std::optional<ChunkRequest> behind(const Chunk& chunk) {
  ChunkRequest next = chunk.request;
  next.after = chunk.upto;
  if (!chunk.upto.empty()) return next;
  std::vector<const TableInfo*> tables = tables_of(next.owner);
  for (size_t i = 0; i + 1 < tables.size(); ++i) {
    if (next.table != tables[i]->name) continue;
    next.table = tables[i + 1]->name;
    return next;
  }
  return std::nullopt;
}

// The first piece of that state.
ChunkRequest from_the_first(ChunkRequest piece, const std::string& incarnation,
                            const Numbered& begin) {
  piece.incarnation = incarnation;
  piece.begin = begin.seq;
  piece.mark = begin.mark;
  piece.table = tables_of(piece.owner).front()->name;
  piece.after.clear();
  return piece;
}

// Of the own rows as they are now. The number at which the snapshot began stays: what came since
// comes again by the stream.
Result<ChunkRequest> own_piece(Sql& sql, const End& end, ChunkRequest piece) {
  row_store::Stream own = TRY(row_store::stream(sql, end.side));
  if (own.restoring) return Error(Code::kUnavailable, "these rows are being restored themselves");
  Numbered newest{own.seq, TRY(own_mark(sql, end, own.seq))};
  if (piece.incarnation != own.incarnation) {
    piece = from_the_first(std::move(piece), own.incarnation, newest);
  } else if (piece.begin > own.seq || TRY(is_other_history(sql, end, own, piece.seen))) {
    return Error(Code::kConflict, "the snapshot began in another history: say hello again");
  }
  piece.seen = newest;
  return piece;
}

// Of the copy, for the end whose rows they are.
Result<ChunkRequest> copy_piece(Sql& sql, const End& end, ChunkRequest piece) {
  Cursor cursor = TRY(read_cursor(sql, end));
  if (cursor.incarnation.empty()) return Error(Code::kConflict, "there is no copy of these rows");
  Numbered now{cursor.seq, cursor.mark};
  if (piece.incarnation != cursor.incarnation || piece.begin != cursor.seq) {
    piece = from_the_first(std::move(piece), cursor.incarnation, now);
  }
  piece.seen = now;
  return piece;
}

}  // namespace

Status want_snapshot(Sql& sql, const End& end, Random& random) {
  return add_want(sql, end, end.peer(), random);
}

Result<std::string> read_chunk(Sql& sql, const End& end, const ChunkRequest& request,
                               const Bounds& bounds) {
  ChunkRequest piece = TRY(request.owner == end.side.self ? own_piece(sql, end, request)
                                                          : copy_piece(sql, end, request));
  std::vector<row_store::TextRow> rows;
  size_t bytes = 0;
  bool more = true;
  while (more && static_cast<int64_t>(rows.size()) < bounds.rows && bytes < bounds.bytes) {
    int64_t count =
        std::min(limits::kSyncReadRows, bounds.rows - static_cast<int64_t>(rows.size()));
    std::vector<row_store::TextRow> page = TRY(row_store::texts(
        sql, piece.table, rows.empty() ? piece.after : rows.back().key, "", count, end.side));
    more = page.size() == static_cast<size_t>(count);
    for (row_store::TextRow& row : page) {
      if (bytes >= bounds.bytes) {
        more = true;
        break;
      }
      bytes += row.text.size();
      rows.push_back(std::move(row));
    }
  }
  RowsHash hash;
  for (const row_store::TextRow& row : rows) hash.add(row.key, row.text);
  Json head = chunk_request_json(piece);
  head["upto"] = more ? rows.back().key : std::string();
  head["hash"] = hash.hex();
  MessageText text(head);
  for (const row_store::TextRow& row : rows) text.add_row(row.text);
  return std::move(text).finish();
}

Result<Chunk> decode_chunk(std::string_view text) {
  Message message = TRY(take_message(text));
  Chunk chunk;
  chunk.upto = TRY(json_string(message.head, "upto"));
  chunk.hash = TRY(json_string(message.head, "hash"));
  message.head.erase("upto");
  message.head.erase("hash");
  chunk.request = TRY(parse_chunk_request(message.head));
  chunk.rows = std::move(message.rows);
  if (chunk.upto.empty() || chunk.upto > chunk.request.after) return chunk;
  return Error(Code::kInvalidInput, "a chunk ends behind its beginning", "upto");
}

Result<ChunkApplied> apply_chunk(Sql& sql, const End& end, const Chunk& chunk, Random& random,
                                 const Hook& hook) {
  const ChunkRequest& piece = chunk.request;
  bool restore = piece.owner == end.side.self;
  row_store::Stream own = TRY(row_store::stream(sql, end.side));
  if (own.restoring && !restore) {
    return Error(Code::kUnavailable, "the own rows are being restored from the other end");
  }
  ChunkApplied outcome;
  outcome.next = TRY(read_want(sql, end, piece.owner));
  if (!outcome.next || !TRY(fits(*outcome.next, piece))) return outcome;
  if (!restore) TRY(check_newer(sql, end, piece));
  TRY(check_rows(end, chunk));
  TRY(assert_range(sql, end, chunk, hook));
  TRY(check_result(sql, end, chunk));
  outcome.applied = true;
  outcome.next = behind(chunk);
  if (outcome.next) {
    TRY(write_want(sql, end, *outcome.next));
  } else {
    TRY(finish(sql, end, piece, random));
  }
  return outcome;
}

}  // namespace leasehold::sync
