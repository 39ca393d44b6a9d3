// Drives one run from commit to commit on a step's thread: writes what is owed, runs the step,
// judges what it says, and goes on, until the run ends or has to wait. Holds no state of its own;
// the engine owns it and every run it is given.
#pragma once

#include "agent/engine/crash_record.h"
#include "agent/engine/recorder.h"

namespace leasehold {

// What the driver needs of the engine. Any thread.
class RunHost {
 public:
  virtual ~RunHost() = default;
  virtual bool draining() const = 0;
  // Before rows are loaded: an event posted from now on may tell of what they do not show.
  virtual void forget_events(Run& run) = 0;
  // After a commit: the timeline, the log, the notices.
  virtual void publish(Run& run, std::vector<RunEvent> events, std::vector<Json> notices) = 0;
  // Both give the run away: the driver's thread touches it no more. `event` may be empty.
  enum class OnStop { kWake, kSleepOn };  // a cleanup and a full disk are not hurried by a stop
  virtual void wait(Run& run, int64_t delay_ms, const std::string& event, OnStop on_stop) = 0;
  virtual void retire(Run& run) = 0;
};

class Driver {
 public:
  Driver(const Engine::Options& options, RunHost& host, CrashRecord& crashes)
      : options_(options), recorder_(options), host_(host), crashes_(crashes) {}

  // On a step's thread.
  void drive(Run& run);

  // What recover() does before the loop starts: reads the run and, if it must fail at once, commits
  // that. `crashed` tells that the last life ended while a step of it was at work.
  Status adopt(Run& run, bool crashed);

  const Recorder& recorder() const { return recorder_; }

 private:
  bool advance(Run& run);  // false: the run was given away
  bool save(Run& run);
  void saved(Run& run);
  bool refused(Run& run, const Error& error);
  bool retry_later(Run& run, const Error& error);
  void decide(Run& run, bool crashed);

  // The rows of a failure, and the failure; false if the rows could not be loaded.
  bool begin_failure(Run& run);
  void prepare_failure(Run& run);
  Done failure_rows(Run& run, const Error& error);
  bool end_run(Run& run);

  bool step(Run& run);
  bool refresh(Run& run);  // false: given away, to try again
  std::optional<Error> reason_not_to_run(Run& run) const;
  StepContext context(const Run& run) const;
  bool judge(Run& run, StepOutcome outcome);
  bool pause(Run& run, int64_t every_ms, int64_t within_ms, Code code, const std::string& why,
             const std::string& event);
  void close_done(Run& run, Done done);
  void close_again(Run& run, const Again& again);

  const Engine::Options& options_;
  Recorder recorder_;
  RunHost& host_;
  CrashRecord& crashes_;
};

}  // namespace leasehold
