// The engine on real threads and a real loop; the pool.
#include "agent/engine/step_threads.h"

#include <atomic>
#include <future>
#include <set>
#include <thread>

#include "core/base/limits.h"
#include "tests/unit/agent/engine/rig.h"

using namespace leasehold;
using namespace leasehold::test;

TEST_CASE("tasks run beside each other and idle threads are used again") {
  StepThreadPool pool;
  std::promise<void> first, second;
  std::promise<std::thread::id> who;
  // Each waits for the other, so they need two threads.
  pool.start([&] {
    first.set_value();
    second.get_future().wait();
  });
  pool.start([&] {
    first.get_future().wait();
    second.set_value();
  });
  pool.drain();
  std::set<std::thread::id> used;
  std::mutex mutex;
  for (int i = 0; i < 20; ++i) {
    pool.start([&] {
      std::lock_guard lock(mutex);
      used.insert(std::this_thread::get_id());
    });
    pool.drain();
  }
  CHECK(used.size() <= 2);
}

TEST_CASE("no more than the bound run at once, the rest wait their turn") {
  StepThreadPool pool;
  std::atomic<size_t> running{0}, most{0}, all{0};
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  size_t tasks = limits::kStepThreads + 50;
  for (size_t i = 0; i < tasks; ++i) {
    pool.start([&, open] {
      size_t now = ++running;
      for (size_t seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      open.wait();
      --running;
      ++all;
    });
  }
  gate.set_value();
  pool.drain();
  CHECK(all == tasks);
  CHECK(most <= limits::kStepThreads);
}

TEST_CASE("many runs at once on threads and a loop, each to its end") {
  Rig rig;
  SystemClock clock;
  Loop loop;
  std::atomic<int> effects{0};
  rig.workflow.places = {
      place("a",
            [&](StepContext&) -> StepOutcome {
              ++effects;
              return Done{};
            }),
      place("b",
            [](StepContext& step) -> StepOutcome {
              if (step.attempt == 1 && step.clock->now_ms() < step.started_ms + 20) {
                return Poll{"a moment", 5, 10'000};
              }
              return Done{};
            }),
      place("c", [](StepContext& step) -> StepOutcome {
        if (step.clock->now_ms() > step.started_ms + 10) return Done{};
        return Await{"wake", "an event", 10'000};
      })};
  rig.workflow.succeed = nullptr;
  REQUIRE(rig.start().ok());
  rig.engine.reset();
  Engine::Options options = rig.options();
  options.turns = nullptr;
  options.threads = nullptr;
  options.loop = &loop;
  options.clock = &clock;
  constexpr int kRuns = 40;
  int finished = 0;
  std::unique_ptr<Engine> engine;
  options.on_event = [&](const RunEvent& event) {
    if (event.kind == "polling" && event.place == "c") {
      loop.after(15, [&engine, id = event.run.id] { engine->post_event(id, "wake"); });
    }
    if (event.kind == "finished" && ++finished == kRuns) loop.stop();
  };
  engine = std::make_unique<Engine>(options);
  for (int i = 0; i < kRuns; ++i) {
    RunInfo run = run_info("r-" + std::to_string(i), "n" + std::to_string(i));
    REQUIRE(
        rig.database->transact_and_wait([&](Sql& sql) { return engine->begin(sql, run); }).ok());
    engine->launch(run.id);
  }
  loop.after(20'000, [&] { loop.stop(); });
  loop.run();
  CHECK(finished == kRuns);
  CHECK(effects == kRuns);
  engine->drain();
  CHECK(engine->open_runs().empty());
  for (int i = 0; i < kRuns; ++i) {
    CHECK(rig.row("run", "r-" + std::to_string(i))["state"] == "succeeded");
  }
}

TEST_CASE("drain waits for the step that is at work and starts nothing more") {
  Rig rig;
  SystemClock clock;
  Loop loop;
  std::promise<void> entered, leave;
  std::atomic<bool> second{false};
  rig.workflow.places = {place("a",
                               [&](StepContext&) -> StepOutcome {
                                 entered.set_value();
                                 leave.get_future().wait();
                                 return Done{};
                               }),
                         place("b", [&](StepContext&) -> StepOutcome {
                           second = true;
                           return Done{};
                         })};
  REQUIRE(rig.start().ok());
  rig.engine.reset();
  Engine::Options options = rig.options();
  options.turns = nullptr;
  options.threads = nullptr;
  options.loop = &loop;
  options.clock = &clock;
  auto engine = std::make_unique<Engine>(options);
  REQUIRE(
      rig.database->transact_and_wait([&](Sql& sql) { return engine->begin(sql, run_info("r-1")); })
          .ok());
  engine->launch(RunId("r-1"));
  entered.get_future().wait();
  std::thread other([&] { leave.set_value(); });
  engine->drain();
  other.join();
  CHECK_FALSE(second);
  CHECK(rig.journal() == "opened started(a) done(a) started(b)");
}
