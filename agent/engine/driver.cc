#include "agent/engine/driver.h"

#include <algorithm>
#include <exception>

#include "core/base/log.h"

namespace leasehold {
namespace {

Error thrown(const std::exception& problem) {
  return Error(Code::kInternal, std::string("an exception left the step: ") + problem.what());
}

}  // namespace

void Driver::drive(Run& run) {
  while (advance(run)) {
  }
}

bool Driver::advance(Run& run) {
  if (!run.loaded) {
    Status read = recorder_.read(run);
    if (!read.ok() && read.error().code == Code::kNotFound) {
      host_.retire(run);  // the transaction that began it was not committed
      return false;
    }
    if (!read.ok()) return retry_later(run, read.error());
    RunEvent began;
    began.run = run.state.run;
    began.kind = "run-started";
    began.at_ms = run.state.run.started_ms;
    host_.publish(run, {began}, {});
    decide(run, false);
  }
  if (run.commit) return save(run);
  if (host_.draining()) {
    host_.wait(run, 0, {}, RunHost::OnStop::kSleepOn);
    return false;
  }
  if (run.failing) return begin_failure(run);
  if (run.next.kind == NextStep::Kind::kSucceed) return end_run(run);
  return step(run);
}

// --- committing
// -----------------------------------------------------------------------------------

// Law journal-first: a step runs only once its record is durable.
bool Driver::save(Run& run) {
  host_.forget_events(run);
  Status written = recorder_.write(run);
  if (!written.ok()) {
    return run.commit ? retry_later(run, written.error()) : refused(run, written.error());
  }
  saved(run);
  if (run.state.phase != RunPhase::kFinished) return true;
  host_.retire(run);
  return false;
}

void Driver::saved(Run& run) {
  run.retry_ms = 0;
  run.visited = false;
  run.waiting_why.clear();
  run.failing.reset();
  run.started_ms = options_.clock->now_ms();
  run.started_monotonic_ms = options_.clock->monotonic_ms();
  Commit commit = std::move(*run.commit);
  run.commit.reset();
  host_.publish(run, std::move(commit.events), std::move(commit.notices));
}

// The transaction holds what may not be written (a broken law, a row without its key). The step has
// not ended; it fails instead. A failure whose own rows are refused takes the generic ones; if even
// those are refused, the run stays open, which keeps the machine from everybody, and says so.
bool Driver::refused(Run& run, const Error& error) {
  if (!run.failing) {
    Code code = is_run_code(error.code) ? error.code : Code::kInternal;
    run.failing = Error(code, "its rows were refused: " + error.text());
    return true;
  }
  if (run.generic_failure) return retry_later(run, error);
  run.generic_failure = true;
  return true;
}

// Nothing is lost meanwhile: the step is over or has not begun, and what is owed stays in memory.
bool Driver::retry_later(Run& run, const Error& error) {
  run.retry_ms = run.retry_ms == 0 ? limits::kCommitRetryFirstMs
                                   : std::min(run.retry_ms * 2, limits::kCommitRetryMaxMs);
  log_line(LogEvent::kCommitFailed, {{"run", run.id.str()},
                                     {"node", run.state.run.node.str()},
                                     {"message", error.text()},
                                     {"again_in_ms", run.retry_ms}});
  host_.wait(run, run.retry_ms, {}, RunHost::OnStop::kSleepOn);
  return false;
}

// --- a run that was just read
// ---------------------------------------------------------------------

void Driver::decide(Run& run, bool crashed) {
  run.loaded = true;
  for (const Workflow& workflow : options_.workflows) {
    if (workflow.name == run.state.run.workflow) run.workflow = &workflow;
  }
  int crashes = static_cast<int>(run.state.crashes.size());
  // A cleanup place may crash as well: then that place is given up, never the rest.
  if (crashes >= limits::kCrashesUntilPoisoned && (crashed || !run.state.error)) {
    run.generic_failure = crashes > limits::kCrashesUntilPoisoned;
    run.failing = Error(Code::kPoisoned, "a step of this run crashed the agent " +
                                             std::to_string(crashes) + " times");
    return;
  }
  if (run.workflow == nullptr ||
      next(run.state, *run.workflow).kind == NextStep::Kind::kUnknownPlace) {
    run.failing =
        Error(Code::kUnknownWorkflow, "this agent has no workflow \"" + run.state.run.workflow +
                                          "\" with the place \"" + run.state.place + "\"");
    return;
  }
  recorder_.prepare(run, {});
}

Status Driver::adopt(Run& run, bool crashed) {
  TRY(recorder_.read(run));
  decide(run, crashed);
  while (run.failing) {
    TRY(recorder_.load(run));
    prepare_failure(run);
    Status written = recorder_.write(run);
    if (written.ok()) {
      saved(run);
    } else if (run.commit || run.generic_failure) {
      return written;
    } else {
      run.generic_failure = true;
    }
  }
  return {};
}

// --- failing
// --------------------------------------------------------------------------------------

bool Driver::begin_failure(Run& run) {
  if (!run.state.error && !refresh(run)) return false;
  prepare_failure(run);
  return true;
}

// Only the first failure has rows; one in the cleanup after it is recorded and masks nothing.
void Driver::prepare_failure(Run& run) {
  Closing closing;
  const Error error = *run.failing;
  if (!run.state.error) {
    Done done = failure_rows(run, error);
    closing.rows = std::move(done.rows);
    closing.notices = std::move(done.notices);
  }
  closing.records.push_back(recorder_.record(run, JournalKind::kFailed, error_json(error)));
  recorder_.prepare(run, std::move(closing));
}

Done Driver::failure_rows(Run& run, const Error& error) {
  CrashRecord::OnThread here(crashes_, run.id);
  if (run.workflow != nullptr && run.workflow->fail && !run.generic_failure) {
    StepContext seen = context(run);
    // The one place where a stray exception would leave a machine unguarded.
    try {
      return run.workflow->fail(seen, error);
    } catch (const std::exception& problem) {
      log_line(LogEvent::kStepFailed,
               {{"run", run.id.str()}, {"message", "fail: " + thrown(problem).text()}});
    }
  }
  return options_.fail_unknown(run.state.run, *run.rows, error);
}

// --- the end
// --------------------------------------------------------------------------------------

bool Driver::end_run(Run& run) {
  Result<Done> done = Done{};
  if (run.load_error) {
    done = *run.load_error;
  } else if (run.workflow->succeed) {
    CrashRecord::OnThread here(crashes_, run.id);
    StepContext seen = context(run);
    try {
      done = run.workflow->succeed(seen);
    } catch (const std::exception& problem) {
      done = thrown(problem);
    }
  }
  if (!done.ok()) {
    run.failing = std::move(done).error().with("at the end of the run");
    return true;
  }
  Closing closing;
  closing.rows = std::move(done.value().rows);
  closing.notices = std::move(done.value().notices);
  closing.records.push_back(
      recorder_.record(run, JournalKind::kFinished, Json{{"state", "succeeded"}}));
  recorder_.prepare(run, std::move(closing));
  return true;
}

}  // namespace leasehold
