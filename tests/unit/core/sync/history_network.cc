#include "core/sync/state.h"
#include "tests/unit/core/sync/history.h"

// The messages of a history: what each end says, and what it does with what it hears.
namespace leasehold::test {
namespace {

constexpr size_t kInFlight = 8;

bool was_killed(const Status& status) {
  return !status.ok() && status.error().code == Code::kStopped;
}

}  // namespace

void History::send(std::deque<Message>& queue, Message message) {
  queue.push_back(std::move(message));
  if (quiet_) return;
  if (random_.one_in(20)) {
    count(Fault::kDuplicate);
    queue.push_back(queue.back());
  }
  if (random_.one_in(20) || queue.size() > kInFlight) {
    count(Fault::kLoss);
    queue.pop_front();
  }
}

void History::deliver(int pair, bool up, bool first) {
  Pair& both = pairs_[static_cast<size_t>(pair)];
  std::deque<Message>& queue = up ? both.up : both.down;
  if (queue.empty() || both.cut > 0) return;
  int index = first ? 0 : random_.below(static_cast<int>(queue.size()));
  if (index != 0) count(Fault::kReorder);
  Message message = std::move(queue[static_cast<size_t>(index)]);
  queue.erase(queue.begin() + index);
  up ? handle_up(pair, message) : handle_down(pair, message);
}

Kill History::draw_kill(const Here& end) {
  if (quiet_ || !random_.one_in(20)) return Kill::kNone;
  Kill kill = random_.one_in(2) ? Kill::kBeforeCommit : Kill::kAfterCommit;
  count(kill == Kill::kBeforeCommit ? Fault::kKillBeforeCommit : Fault::kKillAfterCommit);
  if (!position(end).wants.empty()) count(Fault::kKillInSnapshot);
  return kill;
}

// The site's next word: a hello until both know where they stand, then rows in both directions.
void History::speak(int pair) {
  Pair& both = pairs_[static_cast<size_t>(pair)];
  Here site = here(pair, true);
  if (both.cut > 0) return;
  if (!both.met) return send(both.up, give_position(site, Kind::kHello));
  sync::Position mine = position(site);
  bool has_more = mine.seq > both.theirs.peer.seq || !both.theirs.wants.empty();
  if (has_more && random_.one_in(2)) {
    Message message = both.theirs.wants.empty() ? give_batch(site, both.theirs.peer)
                                                : give_chunk(site, both.theirs.wants.front());
    both.met = message.kind != Kind::kError;
    if (message.kind == Kind::kBatch) message.kind = Kind::kPush;
    if (message.kind == Kind::kChunk) message.kind = Kind::kPushChunk;
    if (both.met) send(both.up, std::move(message));
  } else if (!mine.wants.empty()) {
    send(both.up, {Kind::kAskChunk, dump_json(sync::chunk_request_json(mine.wants.front())), {}});
  } else if (!mine.restoring) {
    send(both.up, {Kind::kPull, dump_json(sync::cursor_json(mine.peer)), {}});
  } else {
    both.met = false;
  }
}

History::Message History::give_position(const Here& end, Kind kind) {
  sync::Position here = position(end);
  bool exact = is_exact(end, here);
  // Most cross as they are, which is faster; some as the text that they are outside of this test.
  if (random_.one_in(8)) {
    Json json = parse_json(dump_json(sync::position_json(here))).value();
    here = sync::parse_position(json).value();
  }
  return {kind, "", std::move(here), end.model.copy, 0, exact};
}

History::Message History::give_batch(const Here& end, const sync::Cursor& from) {
  sync::Outgoing out;
  Status status = end.db.transact([&](Sql& sql) -> Status {
    TRY(sync::acknowledge(sql, end.end, from.incarnation, from.seq));
    out = TRY(sync::read_batch(sql, end.end, from, few()));
    return {};
  });
  if (!status.ok()) return {};
  if (out.must_refetch && from.incarnation == stream(end).incarnation) count(Fault::kRefetch);
  return {Kind::kBatch, out.text, {}, end.model.own};
}

History::Message History::give_chunk(const Here& end, const sync::ChunkRequest& request) {
  Result<std::string> text = sync::read_chunk(end.db, end.end, request, few());
  if (!text.ok()) return {};
  if (request.owner == end.end.side.self) {
    return {Kind::kChunk, text.value(), {}, end.model.own, stream(end).seq};
  }
  return {Kind::kChunk, text.value(), {}, end.model.copy, 0, is_exact(end)};
}

void History::handle_up(int pair, const Message& message) {
  Here end = here(pair, false);
  Kill kill = draw_kill(end);
  Message answer;
  Status status;
  sync::Meeting meeting;
  if (message.kind == Kind::kHello) status = meet(end, message, kill, meeting);
  if (message.kind == Kind::kPush) status = take_batch(end, message, kill);
  if (message.kind == Kind::kPushChunk) status = take_chunk(end, message, kill);
  if (was_killed(status) || kill == Kill::kAfterCommit) return;
  if (message.kind == Kind::kPull) {
    answer = give_batch(end, sync::parse_cursor(parse_json(message.text).value()).value());
  } else if (message.kind == Kind::kAskChunk) {
    answer = give_chunk(end, sync::parse_chunk_request(parse_json(message.text).value()).value());
  } else if (status.ok()) {
    answer = give_position(end, Kind::kPosition);
  }
  send(pairs_[static_cast<size_t>(pair)].down, std::move(answer));
}

void History::handle_down(int pair, const Message& message) {
  Pair& both = pairs_[static_cast<size_t>(pair)];
  Here end = here(pair, true);
  Kill kill = draw_kill(end);
  Status status = Error(Code::kRefused, "the coordinator says no");
  sync::Meeting meeting;
  std::string before = stream(end).incarnation;
  if (message.kind == Kind::kPosition) status = meet(end, message, kill, meeting);
  if (message.kind == Kind::kBatch) status = take_batch(end, message, kill);
  if (message.kind == Kind::kChunk) status = take_chunk(end, message, kill);
  if (message.kind == Kind::kPosition && status.ok()) {
    both.theirs = message.position;
    bool unknown_to_them = meeting.mine == sync::Standing::kRefetch && both.theirs.wants.empty();
    both.met = meeting.theirs != sync::Standing::kRestored && !unknown_to_them;
    // Whoever pulls its own rows back is asked for them, whatever else is the case.
    if (both.theirs.restoring && !both.theirs.wants.empty()) both.met = true;
  }
  if (!status.ok() || kill != Kill::kNone || stream(end).incarnation != before) both.met = false;
}

Status History::meet(const Here& end, const Message& message, Kill kill, sync::Meeting& meeting) {
  const sync::Position& theirs = message.position;
  row_store::Stream before = stream(end);
  TRY(commit(end.db, kill, [&](Sql& sql) -> Status {
    meeting = TRY(sync::meet(sql, end.end, theirs, random_));
    bool told = meeting.mine == sync::Standing::kRestored && !meeting.position.restoring;
    if (!told) return {};
    // People have looked, and it is true.
    TRY(sync::found_restored(sql, end.end));
    meeting = TRY(sync::meet(sql, end.end, theirs, random_));
    return {};
  }));
  bool same = theirs.incarnation == meeting.position.peer.incarnation;
  if (same && meeting.theirs == sync::Standing::kRefetch) count(Fault::kRefetch);
  if (stream(end).incarnation == before.incarnation) return {};
  // It kept its own rows: then what the other end has of them is a part of them.
  if (end.model.pulled) {
    *end.model.own = Line{{before.seq, rows_of(end, end.end.side.self)}};
  } else if (message.exact && theirs.peer.incarnation == before.incarnation) {
    auto has = end.model.own->find(theirs.peer.seq);
    bool has_it = has != end.model.own->end() && has->second == message.line->at(theirs.peer.seq);
    if (!has_it) fail(end, "kept its own rows although the other end had newer ones");
  }
  end.model.pulled = false;
  return {};
}

Status History::take_batch(const Here& end, const Message& message, Kill kill) {
  sync::Batch batch = sync::decode_batch(message.text).value();
  int64_t before = sync::read_cursor(end.db, end.end).value().seq;
  Status status = receiver_(end.db, end.end, batch, kill);
  if (sync::read_cursor(end.db, end.end).value().seq != before) {
    end.model.copy = message.line;
    count(Fault::kBatch);
  }
  if (batch.must_refetch) return Error(Code::kConflict, "hello again");
  check_copy(end);
  return status;
}

Status History::take_chunk(const Here& end, const Message& message, Kill kill) {
  sync::Chunk chunk = sync::decode_chunk(message.text).value();
  sync::ChunkApplied outcome;
  TRY(commit(end.db, kill, [&](Sql& sql) -> Status {
    outcome = TRY(sync::apply_chunk(sql, end.end, chunk, random_));
    return {};
  }));
  if (!outcome.applied) return Error(Code::kConflict, "not what is wanted");
  if (chunk.request.owner == end.end.side.self) {
    chunk_of_restore(end, message, chunk);
    return {};
  }
  bool first = chunk.request.after.empty() &&
               chunk.request.table == sync::tables_of(chunk.request.owner).front()->name;
  if (first) end.model.exact_from = 0;
  end.model.exact_from = std::max(end.model.exact_from, message.head);
  if (outcome.next) return {};
  count(Fault::kSnapshot);
  end.model.copy = message.line;
  check_copy(end);
  return {};
}

void History::chunk_of_restore(const Here& end, const Message& message, const sync::Chunk& chunk) {
  EndModel& model = end.model;
  model.pulled_exactly = message.exact && (model.pulled_exactly || !model.pulled);
  model.pulled = true;
  row_store::Stream now = stream(end);
  if (now.restoring) return;
  count(Fault::kRestored);
  State rows = rows_of(end, end.end.side.self);
  if (model.pulled_exactly && rows != message.line->at(chunk.request.begin)) {
    fail(end, "pulled back other rows than the other end had");
  }
  model.own = std::make_shared<Line>(Line{{now.seq, rows}});
  model.pulled = model.pulled_exactly = false;
}

}  // namespace leasehold::test
