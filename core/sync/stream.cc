#include "core/sync/stream.h"

#include "core/sync/mark.h"
#include "core/sync/message.h"
#include "core/sync/state.h"

namespace leasehold::sync {
namespace {

Status require_restored(const row_store::Stream& own) {
  if (!own.restoring) return {};
  return Error(Code::kUnavailable, "the own rows are being restored from the other end");
}

Error two_histories(int64_t seq) {
  return Error(Code::kConflict, "number " + std::to_string(seq) +
                                    " is another row at the other end: say hello again");
}

// The batch's entry with the cursor's number, if it has one, is the one that was applied.
Status check_same_history(const Batch& batch, const Cursor& cursor) {
  if (batch.after > cursor.seq || cursor.mark.empty()) return {};
  auto known = static_cast<size_t>(cursor.seq - batch.after);
  std::string mark = batch.mark;
  if (known > batch.rows.size()) return {};
  if (known > 0) {
    const Entry& entry = batch.rows[known - 1];
    mark = mark_of(entry.change.table, entry.change.key, entry.text);
  }
  if (mark.empty() || mark == cursor.mark) return {};
  return two_histories(cursor.seq);
}

// The rows behind the cursor, one after another, and the mark of the last.
Status apply_rows(Sql& sql, const End& end, const Batch& batch, const Hook& hook,
                  Applied& applied) {
  for (size_t i = static_cast<size_t>(applied.cursor.seq - batch.after); i < batch.rows.size();
       ++i) {
    const Entry& entry = batch.rows[i];
    TRY(check_entry(end, end.peer(), entry));
    ++applied.cursor.seq;
    ++applied.rows;
    TRY(row_store::put_text(sql, entry.change, entry.text, applied.cursor.seq, end.side));
    if (hook) TRY(hook(sql, entry.change));
  }
  const Entry& newest = batch.rows.back();
  applied.cursor.mark = mark_of(newest.change.table, newest.change.key, newest.text);
  return write_cursor(sql, end, applied.cursor);
}

}  // namespace

bool needs_snapshot(const row_store::Stream& stream, const Cursor& cursor) {
  if (cursor.incarnation != stream.incarnation) return true;
  if (cursor.seq >= stream.seq) return false;
  return cursor.seq == 0 ? stream.kept_from > 1 : cursor.seq < stream.kept_from;
}

Result<std::string> own_mark(Sql& sql, const End& end, int64_t seq) {
  auto rows = TRY(row_store::outbox_after(sql, seq - 1, 1, end.side));
  if (rows.empty() || rows[0].seq != seq) return std::string();
  return mark_of(rows[0].table, rows[0].key, rows[0].text);
}

Result<bool> is_other_history(Sql& sql, const End& end, const row_store::Stream& own,
                              const Numbered& entry) {
  if (entry.seq > own.seq) return true;
  if (entry.mark.empty()) return false;
  std::string mark = TRY(own_mark(sql, end, entry.seq));
  return !mark.empty() && mark != entry.mark;
}

Result<Outgoing> read_batch(Sql& sql, const End& end, const Cursor& from, const Bounds& bounds) {
  row_store::Stream own = TRY(row_store::stream(sql, end.side));
  TRY(require_restored(own));
  const int64_t after = from.seq;
  Outgoing out;
  out.head = own.seq;
  out.upto = after;
  if (needs_snapshot(own, from)) {
    out.must_refetch = true;
    out.text = R"({"mustRefetch":true})";
    return out;
  }
  if (TRY(is_other_history(sql, end, own, {after, from.mark}))) return two_histories(after);
  if (TRY(is_other_history(sql, end, own, from.seen))) return two_histories(from.seen.seq);
  std::string mark = TRY(own_mark(sql, end, after));
  MessageText text(
      Json{{"incarnation", own.incarnation}, {"after", after}, {"mark", mark}, {"head", own.seq}});
  size_t bytes = 0;
  while (out.upto - after < bounds.rows && bytes < bounds.bytes) {
    int64_t count = std::min(limits::kSyncReadRows, bounds.rows - (out.upto - after));
    std::vector<row_store::OutboxRow> rows =
        TRY(row_store::outbox_after(sql, out.upto, count, end.side));
    for (const row_store::OutboxRow& row : rows) {
      if (bytes >= bounds.bytes) break;
      row.text.empty() ? text.add_tombstone(row.table, row.key) : text.add_row(row.text);
      bytes += row.text.size();
      out.upto = row.seq;
    }
    if (rows.size() < static_cast<size_t>(count)) break;
  }
  out.text = std::move(text).finish();
  return out;
}

Result<Batch> decode_batch(std::string_view text) {
  Batch batch;
  if (text == R"({"mustRefetch":true})") {
    batch.must_refetch = true;
    return batch;
  }
  Message message = TRY(take_message(text));
  TRY(check_keys(message.head, {"incarnation", "after", "mark", "head"}, "a batch"));
  batch.incarnation = TRY(json_string(message.head, "incarnation"));
  TRY(epoch_of(batch.incarnation));
  batch.after = TRY(json_int(message.head, "after"));
  batch.head = TRY(json_int(message.head, "head"));
  batch.mark = TRY(json_string(message.head, "mark"));
  if (batch.after < 0) return Error(Code::kInvalidInput, "\"after\" is negative", "after");
  batch.rows = std::move(message.rows);
  return batch;
}

Result<Applied> apply_batch(Sql& sql, const End& end, const Batch& batch, const Hook& hook) {
  TRY(require_restored(TRY(row_store::stream(sql, end.side))));
  Applied applied;
  applied.cursor = TRY(read_cursor(sql, end));
  std::optional<ChunkRequest> want = TRY(read_want(sql, end, end.peer()));
  int64_t known = TRY(epoch_of(applied.cursor.incarnation));
  int64_t told = TRY(epoch_of(batch.incarnation));
  if (batch.must_refetch || want || told > known) {
    applied.must_refetch = true;
    return applied;
  }
  if (batch.incarnation != applied.cursor.incarnation) {
    return Error(Code::kSuperseded, "incarnation " + batch.incarnation + " has been replaced by " +
                                        applied.cursor.incarnation);
  }
  TRY(check_same_history(batch, applied.cursor));
  applied.gap = batch.after > applied.cursor.seq;
  auto count = static_cast<int64_t>(batch.rows.size());
  if (applied.gap || batch.after + count <= applied.cursor.seq) return applied;
  TRY(apply_rows(sql, end, batch, hook, applied));
  return applied;
}

Status acknowledge(Sql& sql, const End& end, const std::string& incarnation, int64_t seq) {
  row_store::Stream own = TRY(row_store::stream(sql, end.side));
  if (incarnation != own.incarnation || seq > own.seq || own.restoring) return {};
  if (seq - own.kept_from < limits::kOutboxPruneEvery) return {};
  return row_store::trim_outbox(sql, seq, end.side);
}

}  // namespace leasehold::sync
