// One open run in memory: what its journal says, what is still to be committed for it, and what it
// waits for. Driven by one thread at a time; only what stands under "shared" is touched by others,
// under the engine's mutex. Internal to the engine.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/engine/engine.h"
#include "agent/engine/journal.h"

namespace leasehold {

// What is committed in one transaction. Kept until that has worked, however often it is tried.
struct Commit {
  std::vector<JournalRecord> records;
  std::vector<RowChange> rows;         // the step's
  std::vector<RowChange> engine_rows;  // the run's and its steps' own
  std::vector<Json> notices;
  std::vector<RunEvent> events;
  bool load = false;  // the rows for what comes next
};

struct Run {
  explicit Run(RunId run_id) : id(std::move(run_id)) { progress.run.id = id; }

  const RunId id;
  // The driving thread's.
  RunState state;
  const Workflow* workflow = nullptr;  // null: unknown
  NextStep next;
  std::shared_ptr<const Snapshot> rows = std::make_shared<Snapshot>();
  std::optional<Error> load_error;  // the rows of the next step could not be had
  std::optional<Commit> commit;     // to be written before anything else
  std::optional<Error> failing;     // to be turned into a failure before anything else
  bool loaded = false;              // state was read from the journal
  bool visited = false;             // this attempt has said Poll or Await
  std::shared_ptr<Json> memory;     // what this attempt remembers (StepContext::memory)
  std::shared_ptr<void> held;       // and holds open (StepContext::held)
  bool generic_failure = false;     // the workflow's own rows of a failure were refused
  int64_t started_ms = 0;           // of this attempt
  int64_t started_monotonic_ms = 0;
  int64_t retry_ms = 0;  // how long the last failed commit was waited for
  std::string waiting_why;

  // Shared, under the engine's mutex.
  RunProgress progress;
  std::set<std::string> posted;  // events since the rows were loaded
  bool waiting = false;          // the loop's thread has it
  std::string wait_event;
  bool stop_wakes = false;
  uint64_t timer = 0;

  std::atomic<bool> stop{false};
};

}  // namespace leasehold
