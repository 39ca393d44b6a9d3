// Poll, Await, deadlines and stops.
#include "tests/unit/agent/engine/rig.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

struct Waiting : Rig {
  int looks = 0;
  StepOutcome answer = Done{};
  Waiting() {
    workflow.places = {place("a",
                             [this](StepContext&) -> StepOutcome {
                               ++looks;
                               return answer;
                             }),
                       place("b", [](StepContext&) -> StepOutcome { return Done{}; })};
    workflow.cleanup = {place("x", [](StepContext&) -> StepOutcome { return Done{}; })};
  }
  std::string code() { return row("run", "r-1")["code"]; }
};

}  // namespace

TEST_CASE("a Poll that lasts too long fails with its own code, after a last look at the limit") {
  Waiting rig;
  rig.answer = Poll{"host still on", 400, 1000, Code::kPowerNotOff};
  rig.run_whole();
  CHECK(rig.code() == "POWER_NOT_OFF");
  CHECK(rig.looks == 4);  // at 0, 400, 800 and 1000 ms
  CHECK(rig.time.monotonic_ms() == 1000);
  CHECK(rig.journal() == "opened started(a) failed(a) started(x) done(x) finished");
}

TEST_CASE("the place's deadline bounds every wait") {
  Waiting rig;
  rig.workflow.places[0].deadline_ms = 500;
  rig.answer = Await{"never", "the call home", 100'000, Code::kRamdiskNoCallHome};
  rig.run_whole();
  CHECK(rig.code() == "RAMDISK_NO_CALL_HOME");
  CHECK(rig.time.monotonic_ms() == 500);
}

TEST_CASE("the run's deadline bounds its places but not its cleanup") {
  Waiting rig;
  RunInfo run = run_info("r-1");
  run.deadline_ms = rig.time.now_ms() + 300;
  SECTION("while one waits") {
    rig.answer = Poll{"", 100, 10'000};
    rig.run_whole(run);
    CHECK(rig.looks == 4);
  }
  SECTION("before one begins") {
    rig.workflow.places[0].run = [&](StepContext& step) -> StepOutcome {
      CHECK(step.deadline_ms == run.deadline_ms);
      step.clock->sleep_ms(400);
      return Done{};
    };
    rig.run_whole(run);
    CHECK(rig.journal() ==
          "opened started(a) done(a) started(b) failed(b) started(x) done(x) finished");
  }
  CHECK(rig.code() == "TIMEOUT");
}

TEST_CASE("an Await sleeps until its event, and sees the rows that came with it") {
  Waiting rig;
  std::string seen;
  rig.workflow.places[0].run = [&](StepContext& step) -> StepOutcome {
    ++rig.looks;
    if (step.rows->get("node", "n1").is_null()) return Await{"joined", "the call home", 60'000};
    return Done{};
  };
  REQUIRE(rig.start().ok());
  REQUIRE(rig.begin(run_info("r-1")).ok());
  rig.go([&] { return rig.looks == 1; });
  rig.time.after(50, [&] { rig.engine->post_event(RunId("r-1"), "something else"); });
  rig.time.after(700, [&] {
    CHECK(rig.looks == 1);
    REQUIRE(
        rig.database
            ->transact_and_wait([](Sql& sql) { return row_store::put(sql, node_row("joined")); })
            .ok());
    rig.engine->post_event(RunId("r-1"), "joined");
  });
  rig.go();
  CHECK(rig.looks == 2);
  CHECK(rig.time.monotonic_ms() < 1000);
  CHECK(rig.row("run", "r-1")["state"] == "succeeded");
}

TEST_CASE("an event between the step's look and its Await is not lost") {
  Waiting rig;
  rig.workflow.places[0].run = [&](StepContext&) -> StepOutcome {
    if (++rig.looks == 2) return Done{};
    rig.engine->post_event(RunId("r-1"), "joined");
    return Await{"joined", "the call home", 60'000};
  };
  rig.run_whole();
  CHECK(rig.looks == 2);
  CHECK(rig.time.monotonic_ms() == 0);
}

TEST_CASE("an Await looks again every 30 s, should an event be lost") {
  Waiting rig;
  rig.workflow.places[0].deadline_ms = 100'000;
  rig.answer = Await{"never", "", 70'000};
  rig.run_whole();
  CHECK(rig.looks == 4);  // 0, 30, 60 and 70 s
  CHECK(rig.code() == "TIMEOUT");
}

TEST_CASE("a stop takes hold at the next boundary and cleans up") {
  Waiting rig;
  SECTION("at a Poll, at once") {
    rig.answer = Poll{"host still on", 10'000, 50'000};
    REQUIRE(rig.start().ok());
    REQUIRE(rig.begin(run_info("r-1")).ok());
    rig.go([&] { return rig.looks == 1; });
    rig.time.after(5, [&] { rig.engine->stop(RunId("r-1")); });
    rig.go();
    CHECK(rig.looks == 1);
    CHECK(rig.time.monotonic_ms() == 5);
    CHECK(rig.journal() == "opened started(a) failed(a) started(x) done(x) finished");
  }
  SECTION("during a step that is done: before the next place acts") {
    bool acted = false;
    rig.workflow.places[0].run = [&](StepContext&) -> StepOutcome {
      rig.engine->stop(RunId("r-1"));
      return Done{};
    };
    rig.workflow.places[1].run = [&](StepContext&) -> StepOutcome {
      acted = true;
      return Done{};
    };
    rig.run_whole();
    CHECK_FALSE(acted);
    CHECK(rig.journal() ==
          "opened started(a) done(a) started(b) failed(b) started(x) done(x) finished");
  }
  SECTION("during a step that says Poll") {
    rig.workflow.places[0].run = [&](StepContext&) -> StepOutcome {
      ++rig.looks;
      rig.engine->stop(RunId("r-1"));
      return Poll{"", 1000, 5000};
    };
    rig.run_whole();
    CHECK(rig.looks == 1);
  }
  CHECK(rig.code() == "STOPPED");
  CHECK(rig.row("node", "n1")["state"] == "failed");
}

TEST_CASE("a stop in the cleanup changes nothing") {
  Waiting rig;
  rig.workflow.cleanup[0].run = [&, looks = 0](StepContext&) mutable -> StepOutcome {
    rig.engine->stop(RunId("r-1"));
    if (looks++ == 0) return Poll{"", 10, 1000};
    return Done{};
  };
  rig.run_whole();
  CHECK(rig.time.monotonic_ms() == 10);  // it was not hurried either
  CHECK(rig.row("run", "r-1")["state"] == "succeeded");
}

TEST_CASE("open runs show where they are and what they wait for") {
  Waiting rig;
  rig.answer = Poll{"host still on", 10'000, 50'000};
  REQUIRE(rig.start().ok());
  REQUIRE(rig.begin(run_info("r-1")).ok());
  rig.go([&] { return rig.looks == 1; });
  std::vector<RunProgress> open = rig.engine->open_runs();
  REQUIRE(open.size() == 1);
  CHECK(open[0].run.node == NodeId("n1"));
  CHECK(open[0].place == "a");
  CHECK(open[0].title == "title of a");
  CHECK(open[0].waiting_for == "host still on");
}
