#include "tests/support/workflow_laws.h"

#include "core/base/log.h"

namespace leasehold::test {
namespace {

constexpr int kTurnsAtMost = 100'000;  // a run that takes more has no end

// Changes the places of a workflow before the engine sees them.
using Twist = std::function<void(Workflow&)>;

// One world, its database on a disk that can end, and the agent's lives in it.
class Trial {
 public:
  explicit Trial(const LawWorldFactory& factory, Twist twist = {})
      : world_(factory()), twist_(std::move(twist)) {}
  ~Trial() { die(); }

  // After the end of the disk: does the step that was just begun still act?
  bool dead_steps_act = true;
  FaultyVfs& disk() { return disk_; }
  LawWorld& world() { return *world_; }

  // Starts the agent; the first time it begins the run.
  Status live() {
    disk_.ended = false;
    disk_.refused = false;
    database_ =
        TRY(Database::open({folder_.file("laws.db"), disk_.name(), {}}, [&](Sql& sql) -> Status {
          TRY(Engine::migrate(sql));
          return world_->migrate(sql);
        }));
    engine_ = std::make_unique<Engine>(options());
    TRY(engine_->recover());
    world_->started(*engine_, *database_, time_);
    return {};
  }
  Status begin() {
    RunInfo run = world_->run();
    TRY(database_->transact_and_wait([&](Sql& sql) { return engine_->begin(sql, run); }));
    engine_->launch(run.id);
    return {};
  }
  // Takes turns until the run has ended or `dead` says so.
  Status go(const std::function<bool()>& dead) {
    for (int turns = 0; turns < kTurnsAtMost; ++turns) {
      if (dead() || engine_->open_runs().empty()) return {};
      if (!time_.turn()) return Error(Code::kInternal, "the run waits for nothing");
    }
    return Error(Code::kInternal, "the run has no end");
  }
  void die() {
    engine_.reset();
    time_.forget();
    database_.reset();
    disk_.end_after = 0;
  }
  Result<Json> final_state() {
    Json state;
    TRY(database_->transact_and_wait([&](Sql& sql) -> Status {
      state = world_->final_state(sql);
      return {};
    }));
    return state;
  }
  Result<std::string> failure(const std::string& place) {
    std::string problem;
    TRY(database_->transact_and_wait([&](Sql& sql) -> Status {
      problem = world_->judge_failure(sql, place);
      return {};
    }));
    return problem;
  }

 private:
  Engine::Options options() {
    Engine::Options made;
    made.database = database_.get();
    made.clock = &time_;
    made.turns = &time_;
    made.threads = &time_;
    made.workflows = {world_->workflow(time_)};
    if (twist_) twist_(made.workflows[0]);
    still_when_dead(made.workflows[0]);
    made.load = [this](Sql& sql, const RunInfo& run, Snapshot& rows) {
      return world_->load(sql, run, rows);
    };
    made.apply = [this](Sql& sql, const RowChange& change) { return world_->apply(sql, change); };
    made.fail_unknown = [this](const RunInfo& run, const Snapshot& rows, const Error& error) {
      return world_->fail_unknown(run, rows, error);
    };
    return made;
  }

  // A dead process does nothing: its steps wait until the trial notices.
  void still_when_dead(Workflow& workflow) {
    for (auto* places : {&workflow.places, &workflow.cleanup}) {
      for (Place& place : *places) {
        place.run = [this, step = place.run](StepContext& context) -> StepOutcome {
          if (disk_.ended && !dead_steps_act) return Poll{.why = "dead"};
          return step(context);
        };
      }
    }
  }

  TempFolder folder_{TempFolder::Where::kMemory};
  FaultyVfs disk_;
  VirtualTime time_;
  std::unique_ptr<LawWorld> world_;
  Twist twist_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Engine> engine_;
};

bool never() { return false; }

// A run that nothing disturbs but the twist; its end.
Result<Json> whole_run(Trial& trial) {
  TRY(trial.live());
  TRY(trial.begin());
  TRY(trial.go(never));
  return trial.final_state();
}

void note(LawReport& report, const std::string& where, const std::string& problem) {
  report.problems.push_back(where + ": " + problem);
}

void compare(LawReport& report, const std::string& where, const Result<Json>& end,
             const Json& expected) {
  if (!end.ok()) return note(report, where, end.error().text());
  if (end.value() != expected) {
    note(report, where,
         "ended as " + dump_json(end.value()) + " and not as " + dump_json(expected));
  }
}

// The end of an undisturbed run, and how many durable writes it made from begin() on.
struct Reference {
  Json end;
  int first_write = 0;
  int last_write = 0;
  std::vector<std::string> places;
};

std::optional<Reference> reference(const LawWorldFactory& factory, LawReport& report) {
  Reference found;
  Trial trial(factory);
  auto run = [&]() -> Status {
    TRY(trial.live());
    TRY(trial.begin());
    found.first_write = trial.disk().log_syncs;  // before it nothing was begun
    TRY(trial.go(never));
    found.last_write = trial.disk().log_syncs;
    found.end = TRY(trial.final_state());
    return {};
  };
  Status ran = run();
  ++report.runs;
  VirtualTime unused;
  Workflow workflow = trial.world().workflow(unused);
  for (const Place& place : workflow.places) found.places.push_back(place.name);
  for (const Place& place : workflow.cleanup) found.places.push_back(place.name);
  if (ran.ok()) return found;
  note(report, "undisturbed", ran.error().text());
  return std::nullopt;
}

Place* place_of(Workflow& workflow, const std::string& name) {
  for (auto* places : {&workflow.places, &workflow.cleanup}) {
    for (Place& place : *places) {
      if (place.name == name) return &place;
    }
  }
  return nullptr;
}

// Runs the step, and when it is done runs it once more: the second answer counts.
void run_twice(Workflow& workflow) {
  for (auto* places : {&workflow.places, &workflow.cleanup}) {
    for (Place& place : *places) {
      place.run = [step = place.run](StepContext& context) {
        StepOutcome first = step(context);
        return std::holds_alternative<Done>(first) ? step(context) : first;
      };
    }
  }
}

// Lets a crash happen after write `point`, at once or only when the next write is tried (so that
// the step in between acts and its answer is lost), and restarts until the run has ended.
Result<Json> crashed_run(Trial& trial, int point, bool act_first, bool& hit) {
  trial.disk().end_after = point;
  trial.dead_steps_act = act_first;
  TRY(trial.live());
  TRY(trial.begin());
  FaultyVfs& disk = trial.disk();
  TRY(trial.go([&] { return act_first ? disk.refused.load() : disk.ended.load(); }));
  hit = disk.ended;
  trial.die();
  TRY(trial.live());
  TRY(trial.go(never));
  return trial.final_state();
}

LawReport check_crashes(const LawWorldFactory& factory, bool act_first) {
  LawReport report;
  std::optional<Reference> undisturbed = reference(factory, report);
  if (!undisturbed) return report;
  for (int point = undisturbed->first_write; point <= undisturbed->last_write; ++point) {
    Trial trial(factory);
    bool hit = false;
    std::string where =
        std::string(act_first ? "reply lost" : "crash") + " after write " + std::to_string(point);
    compare(report, where, crashed_run(trial, point, act_first, hit), undisturbed->end);
    ++report.runs;
    ++report.points;
    if (!hit) note(report, where, "the point was not reached");
  }
  return report;
}

void check_failure(const LawWorldFactory& factory, const std::string& place, bool after_act,
                   LawReport& report) {
  Trial trial(factory, [&](Workflow& workflow) {
    Place* failing = place_of(workflow, place);
    failing->run = [step = failing->run, after_act](StepContext& context) -> StepOutcome {
      StepOutcome outcome = after_act ? step(context) : StepOutcome(Done{});
      if (!std::holds_alternative<Done>(outcome)) return outcome;
      return Error(Code::kInternal, "this place was made to fail");
    };
  });
  ++report.runs;
  std::string where = "failure " + std::string(after_act ? "after" : "before") + " " + place;
  Result<Json> end = whole_run(trial);
  if (!end.ok()) return note(report, where, end.error().text());
  Result<std::string> problem = trial.failure(place);
  if (!problem.ok()) return note(report, where, problem.error().text());
  if (!problem.value().empty()) note(report, where, problem.value());
}

}  // namespace

LawReport check_each_step_twice(const LawWorldFactory& factory) {
  LawReport report;
  std::optional<Reference> undisturbed = reference(factory, report);
  if (!undisturbed) return report;
  Trial trial(factory, run_twice);
  compare(report, "each step twice", whole_run(trial), undisturbed->end);
  ++report.runs;
  return report;
}

LawReport check_failure_at_each_step(const LawWorldFactory& factory) {
  LawReport report;
  std::optional<Reference> undisturbed = reference(factory, report);
  if (!undisturbed) return report;
  for (const std::string& place : undisturbed->places) {
    check_failure(factory, place, false, report);
    check_failure(factory, place, true, report);
  }
  return report;
}

LawReport check_crash_after_each_write(const LawWorldFactory& factory) {
  return check_crashes(factory, false);
}

LawReport check_reply_lost_after_each_act(const LawWorldFactory& factory) {
  return check_crashes(factory, true);
}

LawReport check_all_laws(const LawWorldFactory& factory) {
  LawReport all;
  for (auto* check : {&check_each_step_twice, &check_failure_at_each_step,
                      &check_crash_after_each_write, &check_reply_lost_after_each_act}) {
    LawReport one = check(factory);
    all.problems.insert(all.problems.end(), one.problems.begin(), one.problems.end());
    all.runs += one.runs;
    all.points += one.points;
  }
  return all;
}

}  // namespace leasehold::test
