// Turns the end of one step and the beginning of the next into one transaction: journal, the step's
// rows, the run's own rows, and the rows that the next step may see. prepare() is pure but for the
// run it changes; write() blocks until it is durable and may be tried again. Owned by the engine,
// called on the thread that drives the run.
#pragma once

#include "agent/engine/run.h"

namespace leasehold {

// How a step, or the run's end, closes.
struct Closing {
  std::vector<JournalRecord> records;
  std::vector<RowChange> rows;
  std::vector<Json> notices;
};

class Recorder {
 public:
  explicit Recorder(const Engine::Options& options) : options_(options) {}

  // A record of this run, of its present pass, place and attempt.
  JournalRecord record(const Run& run, JournalKind kind, Json body) const;
  // Applies what closes, decides what comes next, and leaves both in run.commit.
  void prepare(Run& run, Closing closing) const;
  // Writes run.commit. IO or DATABASE: try again. Any other error: the step's rows are refused, and
  // the run has been read anew from the journal as if the step had not ended.
  Status write(Run& run) const;
  // Reads the run from its journal.
  Status read(Run& run) const;
  // The rows that a step may see now.
  Status load(Run& run) const;
  // Is it the disk, and not what was written?
  static bool may_retry(const Error& error);

 private:
  void add(Run& run, JournalRecord record) const;
  Status write_in(Sql& sql, const Run& run, Snapshot& rows, std::optional<Error>& load_error) const;
  Status load_in(Sql& sql, const Run& run, Snapshot& rows, std::optional<Error>& load_error) const;

  const Engine::Options& options_;
};

}  // namespace leasehold
