// Sends the site's rows to the coordinator as they are committed, and whatever the coordinator
// wants as a snapshot. One thread of its own; Centre owns it.
#pragma once

#include "agent/sync/coordinator_client.h"
#include "agent/sync/sync_state.h"
#include "core/db/database.h"

namespace leasehold {

class RowSender {
 public:
  RowSender(SyncState& state, CoordinatorClient& centre, Database& database, sync::End end,
            Random& random)
      : state_(state),
        centre_(centre),
        database_(database),
        end_(std::move(end)),
        backoff_(random) {}

  void run();  // the thread's body; until stop()

 private:
  struct Message {
    bool anything = false;
    std::string text;
  };
  Result<bool> send_some();  // false: there was nothing
  Result<Message> next(const sync::Position& theirs);

  SyncState& state_;
  CoordinatorClient& centre_;
  Database& database_;
  sync::End end_;
  Backoff backoff_;
};

}  // namespace leasehold
