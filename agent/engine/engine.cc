#include "agent/engine/engine.h"

#include <unistd.h>

#include "agent/engine/engine_impl.h"
#include "agent/engine/journal_table.h"
#include "agent/engine/run_rows.h"
#include "core/base/log.h"

namespace leasehold {
namespace {

void check_workflow(const Workflow& workflow) {
  std::set<std::string> names;
  for (const auto* places : {&workflow.places, &workflow.cleanup}) {
    for (const Place& place : *places) {
      LEASEHOLD_CHECK(!place.name.empty() && place.run, "a place has a name and a step");
      LEASEHOLD_CHECK(names.insert(place.name).second, "place " + place.name + " stands twice");
    }
  }
}

}  // namespace

Engine::Engine(Options options) {
  for (const Workflow& workflow : options.workflows) check_workflow(workflow);
  LEASEHOLD_CHECK(options.database != nullptr && options.clock != nullptr && options.load &&
                      options.apply && options.fail_unknown,
                  "the engine's options are incomplete");
  impl_ = std::make_shared<Impl>(std::move(options));
}

Engine::~Engine() { drain(); }

Status Engine::migrate(Sql& sql) { return journal_table::migrate(sql); }

Status Engine::recover() { return impl_->recover(); }

Status Engine::begin(Sql& sql, const RunInfo& run) {
  if (run.id.str().size() > kRunIdLength) {
    return Error(Code::kInvalidInput, "a run's id has at most 48 characters", "run");
  }
  JournalRecord opened;
  opened.run = run.id;
  opened.kind = JournalKind::kOpened;
  opened.at_ms = run.started_ms;
  opened.body = run_info_json(run);
  RunState state = TRY(apply(RunState(), opened));
  TRY(journal_table::open(sql, opened, run.node));
  return impl_->options_.apply(sql, run_row(state, nullptr));
}

void Engine::launch(const RunId& run) {
  auto launched = std::make_shared<Run>(run);
  {
    std::lock_guard lock(impl_->mutex_);
    if (!impl_->runs_.emplace(run, std::move(launched)).second) return;
  }
  impl_->start(run);
}

void Engine::post_event(const RunId& run, const std::string& event) {
  bool wakes = false;
  {
    std::lock_guard lock(impl_->mutex_);
    auto found = impl_->runs_.find(run);
    if (found == impl_->runs_.end()) return;
    Run& open = *found->second;
    wakes = open.waiting && open.wait_event == event;
    if (open.posted.size() < limits::kPostedEvents) open.posted.insert(event);
  }
  if (wakes) impl_->resume(run);
}

void Engine::stop(const RunId& run) {
  bool wakes = false;
  {
    std::lock_guard lock(impl_->mutex_);
    auto found = impl_->runs_.find(run);
    if (found == impl_->runs_.end()) return;
    found->second->stop = true;
    wakes = found->second->waiting && found->second->stop_wakes;
  }
  if (wakes) impl_->resume(run);
}

std::vector<RunProgress> Engine::open_runs() const {
  std::lock_guard lock(impl_->mutex_);
  std::vector<RunProgress> all;
  for (const auto& [id, run] : impl_->runs_) all.push_back(run->progress);
  return all;
}

bool Engine::has_open_run(const NodeId& node) const {
  std::lock_guard lock(impl_->mutex_);
  for (const auto& [id, run] : impl_->runs_) {
    if (run->progress.run.node == node) return true;
  }
  return false;
}

void Engine::begin_drain() { impl_->draining_ = true; }

void Engine::drain() {
  begin_drain();
  impl_->threads_->drain();
}

// --- the inside
// -----------------------------------------------------------------------------------

Engine::Impl::Impl(Options given)
    : options_(std::move(given)),
      turns_(options_.turns),
      threads_(options_.threads),
      driver_(options_, *this, crashes_) {
  if (turns_ == nullptr) {
    own_turns_ = std::make_unique<LoopTurns>(*options_.loop);
    turns_ = own_turns_.get();
  }
  if (threads_ == nullptr) {
    own_threads_ = std::make_unique<StepThreadPool>();
    threads_ = own_threads_.get();
  }
}

Engine::Impl::~Impl() = default;

std::shared_ptr<Run> Engine::Impl::find(const RunId& id) {
  std::lock_guard lock(mutex_);
  auto found = runs_.find(id);
  return found == runs_.end() ? nullptr : found->second;
}

void Engine::Impl::later(std::function<void(Impl&)> task) {
  turns_->post([self = weak_from_this(), task = std::move(task)] {
    if (std::shared_ptr<Impl> impl = self.lock()) task(*impl);
  });
}

// The engine outlives every task of its threads, because its end drains them.
void Engine::Impl::start(const RunId& id) {
  std::shared_ptr<Run> run = find(id);
  if (!run || draining_) return;
  threads_->start([this, run] { driver_.drive(*run); });
}

void Engine::Impl::resume(const RunId& id) {
  {
    std::lock_guard lock(mutex_);
    auto found = runs_.find(id);
    if (found == runs_.end() || !found->second->waiting || draining_) return;
    found->second->waiting = false;
    if (found->second->timer != 0) turns_->cancel(found->second->timer);
    found->second->timer = 0;
  }
  start(id);
}

void Engine::Impl::forget_events(Run& run) {
  std::lock_guard lock(mutex_);
  run.posted.clear();
}

void Engine::Impl::wait(Run& run, int64_t delay_ms, const std::string& event, OnStop on_stop) {
  RunId id = run.id;
  {
    std::lock_guard lock(mutex_);
    run.wait_event = event;
    run.stop_wakes = on_stop == OnStop::kWake;
  }
  later([id, delay_ms](Impl& self) { self.arm(id, delay_ms); });
}

// The step's thread has let go of the run. What came in between must not be slept over.
void Engine::Impl::arm(const RunId& id, int64_t delay_ms) {
  {
    std::lock_guard lock(mutex_);
    auto found = runs_.find(id);
    if (found == runs_.end() || draining_) return;
    Run& run = *found->second;
    run.waiting = true;
    bool now = (run.stop && run.stop_wakes) ||
               (!run.wait_event.empty() && run.posted.count(run.wait_event) != 0);
    auto task = [self = weak_from_this(), id] {
      std::shared_ptr<Impl> impl = self.lock();
      if (!impl) return;
      impl->resume(id);
    };
    if (!now) run.timer = turns_->after(delay_ms, std::move(task));
    if (!now) return;
  }
  resume(id);
}

void Engine::Impl::retire(Run& run) {
  RunId id = run.id;
  std::lock_guard lock(mutex_);
  runs_.erase(id);
}

void Engine::Impl::publish(Run& run, std::vector<RunEvent> events, std::vector<Json> notices) {
  {
    std::lock_guard lock(mutex_);
    RunProgress& progress = run.progress;
    progress.run = run.state.run;
    progress.place = run.state.place;
    progress.title = run.next.place != nullptr ? run.next.place->title : "";
    progress.pass = run.state.pass;
    progress.attempt = run.state.attempt;
    progress.waiting_for = run.waiting_why;
    progress.since_ms = run.started_ms;
  }
  if (events.empty() && notices.empty()) return;
  later([events = std::move(events), notices = std::move(notices)](Impl& self) {
    self.tell(events, notices);
  });
}

}  // namespace leasehold
