#include "core/sync/meet.h"

#include <algorithm>

#include "core/sync/mark.h"
#include "core/sync/state.h"

namespace leasehold::sync {
namespace {

// Whoever has seen this of a stream knows more than the stream itself: it was restored. Equal
// epochs of different names are two databases that were restored from one.
Result<bool> ahead_of(const row_store::Stream& stream, const std::string& incarnation,
                      int64_t seq) {
  int64_t known = TRY(epoch_of(incarnation));
  int64_t told = TRY(epoch_of(stream.incarnation));
  if (known != told) return known > told;
  return incarnation != stream.incarnation || seq > stream.seq;
}

// The same of the own stream, whose entries are at hand.
Result<bool> ahead_of_own(Sql& sql, const End& end, const row_store::Stream& own,
                          const std::string& incarnation, const Numbered& entry) {
  if (TRY(ahead_of(own, incarnation, entry.seq))) return true;
  if (incarnation != own.incarnation) return false;
  return is_other_history(sql, end, own, entry);
}

const ChunkRequest* wanted_of(const Position& position, RowOwner owner) {
  for (const ChunkRequest& want : position.wants) {
    if (want.owner == owner) return &want;
  }
  return nullptr;
}

// The copy holds nothing that the own rows lack: they stay, under the next incarnation.
Status keep_own(Sql& sql, const End& end, const row_store::Stream& own, const Position& theirs,
                Random& random) {
  int64_t newest = TRY(epoch_of(own.incarnation));
  newest = std::max(newest, TRY(epoch_of(theirs.peer.incarnation)));
  if (const ChunkRequest* want = wanted_of(theirs, end.side.self)) {
    newest = std::max(newest, TRY(epoch_of(want->incarnation)));
  }
  TRY(drop_want(sql, end, end.side.self));
  return row_store::begin_incarnation(sql, newest + 1, random, end.side);
}

Result<Standing> judge_mine(Sql& sql, const End& end, const Position& theirs, Random& random) {
  row_store::Stream own = TRY(row_store::stream(sql, end.side));
  const Cursor& copy = theirs.peer;
  const ChunkRequest* want = wanted_of(theirs, end.side.self);
  bool copy_ahead = TRY(ahead_of_own(sql, end, own, copy.incarnation, {copy.seq, copy.mark}));
  bool seen_ahead = TRY(ahead_of_own(sql, end, own, copy.incarnation, copy.seen));
  bool want_ahead =
      want != nullptr && TRY(ahead_of_own(sql, end, own, want->incarnation, want->seen));
  const bool known_ahead = copy_ahead || seen_ahead || want_ahead;
  if (known_ahead && !own.restoring && !end.believes) return Standing::kRestored;
  if (own.restoring || known_ahead) {
    TRY(row_store::begin_restore(sql, end.side));
    if (copy_ahead) {
      TRY(add_want(sql, end, end.side.self, random));
      return Standing::kRestored;
    }
    TRY(keep_own(sql, end, own, theirs, random));
    return Standing::kRefetch;
  }
  return want != nullptr || needs_snapshot(own, copy) ? Standing::kRefetch : Standing::kGo;
}

Result<Standing> judge_theirs(Sql& sql, const End& end, const Position& theirs, Random& random) {
  if (theirs.restoring) return Standing::kRestored;
  row_store::Stream stream{theirs.incarnation, theirs.seq, theirs.kept_from, false};
  Cursor cursor = TRY(read_cursor(sql, end));
  std::optional<ChunkRequest> want = TRY(read_want(sql, end, end.peer()));
  if (TRY(ahead_of(stream, cursor.incarnation, std::max(cursor.seq, cursor.seen.seq))) ||
      (want && TRY(ahead_of(stream, want->incarnation, want->seen.seq)))) {
    return Standing::kRestored;
  }
  if (!want && !needs_snapshot(stream, cursor)) return Standing::kGo;
  TRY(add_want(sql, end, end.peer(), random));
  return Standing::kRefetch;
}

}  // namespace

Status found_restored(Sql& sql, const End& end) { return row_store::begin_restore(sql, end.side); }

Result<Meeting> meet(Sql& sql, const End& end, const Position& theirs, Random& random) {
  Meeting meeting;
  meeting.mine = TRY(judge_mine(sql, end, theirs, random));
  meeting.theirs = TRY(judge_theirs(sql, end, theirs, random));
  meeting.position = TRY(position(sql, end));
  return meeting;
}

}  // namespace leasehold::sync
