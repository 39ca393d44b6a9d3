// Pulls the coordinator's rows by long poll and applies them: batch, cursor and what the intake
// makes of the work rows in one transaction, the runs launched after it. One thread of its own;
// Centre owns it.
#pragma once

#include "agent/intake.h"
#include "agent/sync/coordinator_client.h"
#include "agent/sync/sync_state.h"
#include "core/sync/snapshot.h"
#include "core/sync/stream.h"

namespace leasehold {

class RowReceiver {
 public:
  struct Options {
    sync::End end;
    Intake* intake = nullptr;
    Random* random = nullptr;
    // Held from a transaction until its runs were launched; whoever resumes the journal's open runs
    // holds it too, so that a run is never taken up twice.
    std::mutex* starting = nullptr;
    // After the commit, under `starting`.
    std::function<void(const IntakeOutcome&)> told;
  };
  RowReceiver(SyncState& state, CoordinatorClient& centre, Database& database, Options options)
      : state_(state),
        centre_(centre),
        database_(database),
        options_(std::move(options)),
        backoff_(*options_.random) {}

  void run();  // the thread's body; until stop()
  // A snapshot that is wanted, now: the thread itself may sit in a poll for long. Any thread.
  Status fetch_wanted();

 private:
  Result<sync::Position> position();
  Status receive_some();
  Status receive_chunk(const sync::ChunkRequest& want);
  Status receive_batch(const sync::Cursor& cursor);
  Status apply(const std::function<Status(Sql&, const sync::Hook&)>& rows);

  SyncState& state_;
  CoordinatorClient& centre_;
  Database& database_;
  Options options_;
  Backoff backoff_;
};

// One chunk of what this database wants of the coordinator, fetched. MALFORMED if it is none.
Result<sync::Chunk> fetch_chunk(CoordinatorClient& centre, const sync::ChunkRequest& want);

}  // namespace leasehold
