#include "agent/sync/row_receiver.h"

#include <algorithm>

#include "core/base/log.h"

namespace leasehold {
namespace {

// A coordinator that answers polls at once with nothing must not keep a processor busy.
constexpr int64_t kEmptyMs = 5;

// Rows that were refused will be refused again: no hurry, and an operator must see it.
bool is_refusal(const Error& error) {
  return error.code == Code::kForbidden || error.code == Code::kInvalidInput ||
         error.code == Code::kMalformed || error.code == Code::kInternal;
}

// Of rows that have arrived.
Status judged(Status taken) {
  if (!taken.ok() && is_refusal(taken.error())) {
    log_line(LogEvent::kSyncRefused, Json{{"message", scrubbed(taken.error().text())}});
  }
  return taken;
}

}  // namespace

Result<sync::Chunk> fetch_chunk(CoordinatorClient& centre, const sync::ChunkRequest& want) {
  std::string text =
      TRY(centre.post_text("/v1/sync/chunk", dump_json(sync::chunk_request_json(want))));
  return sync::decode_chunk(text);
}

void RowReceiver::run() {
  while (state_.wait_linked()) {
    Status received = receive_some();
    if (received.ok()) {
      backoff_.reset();
      continue;
    }
    if (state_.stopping()) return;
    state_.failed(received.error());
    if (!state_.pause(backoff_.next_ms())) return;
    state_.look_again();
  }
}

Result<sync::Position> RowReceiver::position() {
  sync::Position position;
  TRY(database_.transact_and_wait([&](Sql& sql) -> Status {
    position = TRY(sync::position(sql, options_.end));
    return {};
  }));
  return position;
}

Status RowReceiver::receive_some() {
  sync::Position own = TRY(position());
  for (const sync::ChunkRequest& want : own.wants) {
    if (want.owner == RowOwner::kCoordinator) return receive_chunk(want);
  }
  return receive_batch(own.peer);
}

Status RowReceiver::fetch_wanted() {
  while (!state_.stopping()) {
    sync::Position own = TRY(position());
    auto wanted = std::find_if(own.wants.begin(), own.wants.end(), [](const auto& want) {
      return want.owner == RowOwner::kCoordinator;
    });
    if (wanted == own.wants.end()) return {};
    TRY(receive_chunk(*wanted));
  }
  return {};
}

Status RowReceiver::receive_chunk(const sync::ChunkRequest& want) {
  sync::Chunk chunk = TRY(fetch_chunk(centre_, want));
  state_.heard();
  return judged(apply([&](Sql& sql, const sync::Hook& hook) -> Status {
    TRY(sync::apply_chunk(sql, options_.end, chunk, *options_.random, hook));
    return {};
  }));
}

Status RowReceiver::receive_batch(const sync::Cursor& cursor) {
  Json request = {{"cursor", sync::cursor_json(cursor)}, {"wait", limits::kSyncPollMs / 1000}};
  std::string text = TRY(centre_.post_text("/v1/sync/pull", dump_json(request)));
  Result<sync::Batch> batch = sync::decode_batch(text);
  if (!batch.ok()) return judged(batch.error());
  state_.heard();
  if (batch.value().rows.empty() && !batch.value().must_refetch) {
    state_.pause(kEmptyMs);
    return {};
  }
  return judged(apply([&](Sql& sql, const sync::Hook& hook) -> Status {
    TRY(sync::apply_batch(sql, options_.end, batch.value(), hook));
    return {};
  }));
}

Status RowReceiver::apply(const std::function<Status(Sql&, const sync::Hook&)>& rows) {
  std::lock_guard lock(*options_.starting);
  IntakeOutcome outcome;
  TRY(database_.transact_and_wait([&](Sql& sql) -> Status {
    outcome = IntakeOutcome();
    return rows(sql, [&](Sql& inner, const RowChange& change) {
      return options_.intake->told(inner, change, outcome);
    });
  }));
  options_.told(outcome);
  return {};
}

}  // namespace leasehold
