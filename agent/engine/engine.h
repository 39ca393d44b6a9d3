// Runs workflows from a durable journal. On the loop's thread it decides what comes next (a pure
// function over journal records, journal.h), commits it, and hands the step to a thread of its own.
// One run per node at most. Killed at any instant and started again, it reaches the same end: a step
// that had begun is run again. Owned by main().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/engine/workflow.h"
#include "core/db/database.h"
#include "core/loop/loop.h"

namespace leasehold {

// What the engine shows of an open run.
struct RunProgress {
  RunInfo run;
  std::string place;
  std::string title;
  int pass = 1;
  int attempt = 1;
  std::string waiting_for;  // of the newest Poll or Await
  int64_t since_ms = 0;
};

// One event of a run's life, for the timeline (site API) and the log.
struct RunEvent {
  RunInfo run;
  std::string kind;  // "run-started", "started", "polling", "done", "failed", "again", "finished"
  std::string place;
  std::string group;
  std::string title;
  std::string detail;
  int pass = 1;
  int64_t at_ms = 0;
  int64_t took_ms = 0;  // for done and failed
};

class Engine {
 public:
  struct Options {
    Loop* loop = nullptr;
    Database* database = nullptr;
    Clock* clock = nullptr;
    std::vector<Workflow> workflows;
    // Fills what a step of this run may see; runs inside the transaction that starts the step.
    std::function<Status(Sql&, const RunInfo&, Snapshot&)> load;
    // Applies one row change (row, sequence, outbox); inside the step's transaction.
    std::function<Status(Sql&, const RowChange&)> apply;
    std::function<void(const RunEvent&)> on_event;   // loop thread, after the commit
    std::function<void(const Json&)> on_notice;      // loop thread, after the commit
    // Runs that crashed the process while one of their steps was on a thread: run id -> times,
    // this start included (crash_record.h).
    std::string crash_file;
  };
  explicit Engine(Options options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Tables of the journal; part of the database's migration.
  static Status migrate(Sql& sql);

  // Reads the open runs and goes on with them: a started step runs again with the next attempt. A
  // run whose workflow is unknown fails as UNKNOWN_WORKFLOW; one that crashed the process three
  // times as POISONED. Blocks (before the loop runs).
  Status recover();

  // Inside the transaction that accepted the work: writes the journal's first record. CONFLICT if
  // the node has an open run. After the commit the caller calls launch() on the loop's thread.
  Status begin(Sql& sql, const RunInfo& run);
  void launch(const RunId& run);

  // Wakes an Await of this run for this event; ignored if nobody waits. Loop thread.
  void post_event(const RunId& run, const std::string& event);
  // Stops the run at its next boundary: it fails with STOPPED, then cleans up. Loop thread.
  void stop(const RunId& run);

  std::vector<RunProgress> open_runs() const;
  bool has_open_run(const NodeId& node) const;
  // Nothing starts any more; returns when no step is on a thread. For an orderly exit.
  void drain();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leasehold
