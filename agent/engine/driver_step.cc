// The driver's part that runs one step and judges what it says.
#include <algorithm>
#include <exception>

#include "agent/engine/driver.h"

namespace leasehold {
namespace {

// Both forms of "not yet" are judged alike.
struct Wait {
  int64_t every_ms;
  int64_t within_ms;
};

// How long this attempt may take in all: what the step asks for, its place, the run.
int64_t limit_ms(const Run& run, int64_t within_ms) {
  int64_t limit = std::min(within_ms, run.next.place->deadline_ms);
  if (!run.next.cleanup && run.state.run.deadline_ms != 0) {
    limit = std::min(limit, run.state.run.deadline_ms - run.started_ms);
  }
  return std::max<int64_t>(limit, 0);
}

}  // namespace

bool Driver::step(Run& run) {
  if (std::optional<Error> reason = reason_not_to_run(run)) {
    run.held.reset();
    run.failing = std::move(reason);
    return true;
  }
  if (run.visited && !refresh(run)) return false;
  if (!run.visited || !run.memory) run.memory = std::make_shared<Json>(Json::object());
  StepOutcome outcome = Done{};
  if (run.load_error) {
    outcome = *run.load_error;
  } else {
    CrashRecord::OnThread here(crashes_, run.id);
    StepContext seen = context(run);
    seen.held = &run.held;
    // A library's exception fails this run, never the site.
    try {
      outcome = run.next.place->run(seen);
    } catch (const std::exception& problem) {
      outcome =
          Error(Code::kInternal, std::string("an exception left the step: ") + problem.what());
    }
  }
  bool over = judge(run, std::move(outcome));
  if (over) run.held.reset();
  return over;
}

std::optional<Error> Driver::reason_not_to_run(Run& run) const {
  if (run.next.cleanup) return std::nullopt;
  if (run.stop) return Error(Code::kStopped, "stopped before " + run.next.place->name);
  int64_t deadline = run.state.run.deadline_ms;
  if (!run.visited && deadline != 0 && options_.clock->now_ms() >= deadline) {
    return Error(Code::kTimeout, "the run's deadline has passed");
  }
  return std::nullopt;
}

bool Driver::refresh(Run& run) {
  host_.forget_events(run);
  Status loaded = recorder_.load(run);
  return loaded.ok() || retry_later(run, loaded.error());
}

StepContext Driver::context(const Run& run) const {
  StepContext seen;
  seen.run = run.state.run;
  seen.place = run.state.in_progress ? run.state.place : "";
  seen.pass = run.state.pass;
  seen.attempt = run.state.in_progress ? run.state.attempt : 1;
  seen.started_ms = run.started_ms;
  seen.deadline_ms = run.started_ms;
  if (run.next.kind == NextStep::Kind::kStart && run.next.place != nullptr) {
    seen.deadline_ms += limit_ms(run, run.next.place->deadline_ms);
  }
  seen.rows = run.rows;
  seen.outputs = &run.state.outputs;
  seen.recovering = seen.attempt > 1;
  seen.clock = options_.clock;
  seen.memory = run.memory ? run.memory : std::make_shared<Json>(Json::object());
  return seen;
}

bool Driver::judge(Run& run, StepOutcome outcome) {
  if (auto* done = std::get_if<Done>(&outcome)) {
    close_done(run, std::move(*done));
  } else if (auto* poll = std::get_if<Poll>(&outcome)) {
    return pause(run, std::max(poll->every_ms, limits::kPollMinMs), poll->within_ms, poll->code,
                 poll->why, {});
  } else if (auto* await = std::get_if<Await>(&outcome)) {
    int64_t recheck_ms = std::clamp(await->recheck_ms, limits::kPollMinMs, limits::kAwaitRecheckMs);
    return pause(run, recheck_ms, await->within_ms, await->code, await->why, await->event);
  } else if (auto* again = std::get_if<Again>(&outcome)) {
    close_again(run, *again);
  } else {
    run.failing = std::get<Error>(std::move(outcome));
  }
  return true;
}

bool Driver::pause(Run& run, int64_t every_ms, int64_t within_ms, Code code, const std::string& why,
                   const std::string& event) {
  int64_t left =
      limit_ms(run, within_ms) - (options_.clock->monotonic_ms() - run.started_monotonic_ms);
  if (left <= 0) {
    run.failing = Error(code, why + "; its time is over");
    return true;
  }
  if (run.stop && !run.next.cleanup) {
    run.failing = Error(Code::kStopped, "stopped at " + run.next.place->name + " (" + why + ")");
    return true;
  }
  run.visited = true;
  if (run.waiting_why != why) {
    run.waiting_why = why;
    RunEvent polling;
    polling.run = run.state.run;
    polling.kind = "polling";
    polling.place = run.next.place->name;
    polling.group = run.next.place->group;
    polling.title = run.next.place->title;
    polling.detail = why;
    polling.pass = run.state.pass;
    polling.at_ms = options_.clock->now_ms();
    host_.publish(run, {polling}, {});
  }
  host_.wait(run, std::min(every_ms, left), event,
             run.next.cleanup ? RunHost::OnStop::kSleepOn : RunHost::OnStop::kWake);
  return false;
}

void Driver::close_done(Run& run, Done done) {
  if (dump_json(done.output).size() > limits::kStepOutputBytes) {
    run.failing = Error(Code::kInternal, "the step's output is too large for the journal");
    return;
  }
  Closing closing;
  closing.rows = std::move(done.rows);
  closing.notices = std::move(done.notices);
  closing.records.push_back(
      recorder_.record(run, JournalKind::kDone, Json{{"output", std::move(done.output)}}));
  recorder_.prepare(run, std::move(closing));
}

void Driver::close_again(Run& run, const Again& again) {
  PlaceAt target = find_place(*run.workflow, again.from);
  PlaceAt here = find_place(*run.workflow, run.next.place->name);
  if (run.next.cleanup || target.place == nullptr || target.cleanup ||
      target.number > here.number) {
    run.failing = Error(Code::kInternal, "\"" + again.from + "\" is no earlier place");
    return;
  }
  if (run.state.agains >= limits::kAgainPerRun) {
    run.failing = Error(Code::kInternal,
                        "back to \"" + again.from + "\" for the second time (" + again.why + ")");
    return;
  }
  Closing closing;
  closing.records.push_back(
      recorder_.record(run, JournalKind::kAgain, Json{{"from", again.from}, {"why", again.why}}));
  recorder_.prepare(run, std::move(closing));
}

}  // namespace leasehold
