// Runs workflows from a durable journal. A pure function over journal records (journal.h) decides
// what comes next; it is committed before it is done. A run is driven by one thread at a time: a
// step's thread from one commit to the next, and the loop's while it waits. One run per node at
// most. Killed at any instant and started again, it reaches the same end: a step that had begun is
// run again. Owned by main().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/engine/step_threads.h"
#include "agent/engine/turns.h"
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
    // Fills what a step of this run may see; runs inside the transaction that starts the step. Its
    // error (but IO and DATABASE, which are tried again) fails the step as INTERNAL.
    std::function<Status(Sql&, const RunInfo&, Snapshot&)> load;
    // Applies one row change (row, sequence, outbox); inside the step's transaction. Its error (but
    // IO and DATABASE) undoes the transaction and fails the step.
    std::function<Status(Sql&, const RowChange&)> apply;
    // The rows of a failure for a run whose workflow is unknown, or whose own `fail` gave rows that
    // were refused or crashed the process.
    std::function<Done(const RunInfo&, const Snapshot&, const Error&)> fail_unknown;
    std::function<void(const RunEvent&)> on_event;  // loop thread, after the commit
    std::function<void(const Json&)> on_notice;     // loop thread, after the commit
    // Runs that crashed the process while one of their steps was on a thread: run id -> times,
    // this start included (crash_record.h).
    std::string crash_file;
    StepThreads* threads = nullptr;  // null: a pool of the engine's own
    Turns* turns = nullptr;          // null: the loop
  };
  explicit Engine(Options options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Tables of the journal; part of the database's migration.
  static Status migrate(Sql& sql);

  // Closes every open run as failed with `error`, in the journal alone; before recover(), for a
  // database that was restored: none of them is ever resumed. Says which.
  static Result<std::vector<RunInfo>> abandon(Sql& sql, const Error& error, int64_t now_ms);

  // Reads the open runs and goes on with them: a started step runs again with the next attempt. A
  // run whose workflow is unknown fails as UNKNOWN_WORKFLOW; one that crashed the process three
  // times as POISONED, both committed before this returns. DATABASE if the journal holds what no
  // run can have written. Blocks (before the loop runs). A stop() is not remembered: whoever wants
  // it asks again.
  Status recover();

  // Inside the transaction that accepted the work: writes the journal's first record. CONFLICT if
  // the node has an open run. After the commit the caller calls launch() on the loop's thread.
  Status begin(Sql& sql, const RunInfo& run);
  void launch(const RunId& run);

  // Wakes an Await of this run for this event, also one that its step is about to return. Posted
  // after the commit of what it tells of. Loop thread.
  void post_event(const RunId& run, const std::string& event);
  // Stops the run at its next boundary (the end of a step, a Poll, an Await): it fails with
  // STOPPED, then cleans up. Once the cleanup has begun it changes nothing. Loop thread.
  void stop(const RunId& run);

  std::vector<RunProgress> open_runs() const;
  bool has_open_run(const NodeId& node) const;
  // Nothing starts any more, and what a step on a thread says from now on is not judged: it runs
  // again at the next start. Then whatever its thread waits for may be cut off.
  void begin_drain();
  // begin_drain(), and returns when no step is on a thread. For an orderly exit.
  void drain();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared only so that tasks posted to the loop can hold it weakly
};

}  // namespace leasehold
