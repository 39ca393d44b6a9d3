#include "agent/sync/row_sender.h"

#include "core/sync/snapshot.h"
#include "core/sync/stream.h"

namespace leasehold {

void RowSender::run() {
  while (state_.wait_linked()) {
    uint64_t seen = state_.rows_signal();
    Result<bool> sent = send_some();
    if (sent.ok()) {
      backoff_.reset();
      if (!sent.value()) state_.wait_rows(seen);
      continue;
    }
    state_.failed(sent.error());
    if (!state_.pause(backoff_.next_ms())) return;
    state_.look_again();
  }
}

Result<bool> RowSender::send_some() {
  sync::Position theirs = state_.theirs();
  Message message = TRY(next(theirs));
  if (!message.anything) return false;
  std::string text = TRY(centre_.post_text("/v1/sync/push", std::move(message.text)));
  Json answer = TRY(parse_json(text, limits::kSyncAnswerBytes));
  sync::Position now = TRY_WITH(sync::parse_position(json_member(answer, "cursor")),
                                "the coordinator's answer to rows");
  state_.heard();
  bool same = dump_json(sync::position_json(now)) == dump_json(sync::position_json(theirs));
  state_.told(now);
  if (!same) return true;
  return Error(Code::kRefused, "the coordinator took rows and stands where it stood");
}

// What the other end has is let go of in the same transaction.
Result<RowSender::Message> RowSender::next(const sync::Position& theirs) {
  Message message;
  TRY(database_.transact_and_wait([&](Sql& sql) -> Status {
    TRY(sync::acknowledge(sql, end_, theirs.peer.incarnation, theirs.peer.seq));
    message = Message();
    if (!theirs.wants.empty()) {
      message.text = TRY(sync::read_chunk(sql, end_, theirs.wants.front()));
      message.anything = true;
      return {};
    }
    sync::Outgoing out = TRY(sync::read_batch(sql, end_, theirs.peer));
    message.anything = out.must_refetch || out.upto > theirs.peer.seq;
    message.text = std::move(out.text);
    return {};
  }));
  return message;
}

}  // namespace leasehold
