#include "agent/engine/engine.h"

#include "tests/unit/agent/engine/rig.h"

using namespace leasehold;
using namespace leasehold::test;

TEST_CASE("places run in order, then the cleanup, and rows come with their step") {
  Rig rig;
  std::string seen;
  rig.workflow.places = {
      place("a",
            [&](StepContext& step) -> StepOutcome {
              seen += "a";
              CHECK(step.pass == 1);
              CHECK(step.attempt == 1);
              CHECK_FALSE(step.recovering);
              // Durable before the act; its step row comes when it is over.
              CHECK(rig.journal() == "opened started(a)");
              CHECK(rig.row("run", "r-1")["place"] == "a");
              CHECK(rig.row("run", "r-1")["title"] == "title of a");
              CHECK(rig.row("run", "r-1")["attempt"] == 1);
              CHECK(rig.row("step", "r-1-p1-01").is_null());
              return Done{{{"found", 42}}, {node_row("releasing")}, {Json{{"close", 7}}}};
            }),
      place("b", [&](StepContext& step) -> StepOutcome {
        seen += "b";
        CHECK(step.output("a")["found"] == 42);
        CHECK(step.output("never").is_null());
        CHECK(step.rows->get("node", "n1")["state"] == "releasing");
        return Done{};
      })};
  rig.workflow.cleanup = {place("x", [&](StepContext&) -> StepOutcome {
    seen += "x";
    return Done{};
  })};
  rig.run_whole();
  CHECK(seen == "abx");
  CHECK(rig.journal() ==
        "opened started(a) done(a) started(b) done(b) started(x) done(x) finished");
  CHECK(rig.row("node", "n1")["state"] == "ready");
  CHECK(rig.notices == std::vector<Json>{Json{{"close", 7}}});

  Json run = rig.row("run", "r-1");
  CHECK(run["state"] == "succeeded");
  CHECK(run["generation"] == 7);
  CHECK(run["lease"] == "l1");
  CHECK(run["work"] == "w1");
  CHECK(run["code"] == "");
  CHECK(run["finishedAt"] != "");
  Json step = rig.row("step", "r-1-p1-01");
  CHECK(step["state"] == "done");
  CHECK(step["title"] == "title of a");
  CHECK(step["group"] == "1");
  CHECK(step["output"]["found"] == 42);
  CHECK(rig.row("step", "r-1-p1-c01")["place"] == "x");
}

TEST_CASE("every transition is an event, in order, after its commit") {
  Rig rig;
  rig.workflow.places = {place("a", [&, n = 0](StepContext&) mutable -> StepOutcome {
    if (n++ < 2) return Poll{"waiting for it", 100, 1000};
    return Done{};
  })};
  rig.run_whole();
  std::string kinds;
  for (const RunEvent& event : rig.events) kinds += event.kind + " ";
  CHECK(kinds == "run-started started polling done finished ");
  CHECK(rig.events[2].detail == "waiting for it");
  CHECK(rig.events[3].took_ms == 200);
}

TEST_CASE("one commit ends a step and begins the next") {
  Rig rig;
  rig.workflow.places = {place("a", [](StepContext&) -> StepOutcome { return Done{}; }),
                         place("b", [](StepContext&) -> StepOutcome { return Done{}; })};
  REQUIRE(rig.start().ok());
  int before = rig.disk.log_syncs;
  REQUIRE(rig.begin(run_info("r-1")).ok());
  rig.go();
  // opened | started a | done a, started b | done b | finished
  CHECK(rig.disk.log_syncs - before == 5);
}

TEST_CASE("Again goes back once, in a new pass, and keeps the newest outputs") {
  Rig rig;
  std::string seen;
  rig.workflow.places = {place("a",
                               [&](StepContext&) -> StepOutcome {
                                 seen += "a";
                                 return Done{};
                               }),
                         place("b",
                               [&](StepContext& step) -> StepOutcome {
                                 seen += "b";
                                 return Done{{{"pass", step.pass}}, {}, {}};
                               }),
                         place("c", [&](StepContext& step) -> StepOutcome {
                           seen += "c" + dump_json(step.output("b")["pass"]);
                           if (step.pass == 1) return Again{"b", "it was rewritten"};
                           return Done{};
                         })};
  SECTION("once") {
    rig.run_whole();
    CHECK(seen == "abc1bc2");
    CHECK(rig.journal() ==
          "opened started(a) done(a) started(b) done(b) started(c) again(c) started(2:b) done(2:b) "
          "started(2:c) done(2:c) finished");
    CHECK(rig.row("step", "r-1-p1-03")["state"] == "again");
    CHECK(rig.row("step", "r-1-p2-03")["state"] == "done");
    CHECK(rig.row("run", "r-1")["pass"] == 2);
  }
  SECTION("a second time is INTERNAL") {
    rig.workflow.places[2].run = [](StepContext&) -> StepOutcome { return Again{"b", "always"}; };
    rig.run_whole();
    CHECK(rig.row("run", "r-1")["code"] == "INTERNAL");
    CHECK(rig.row("node", "n1")["state"] == "failed");
  }
  SECTION("forward is INTERNAL") {
    rig.workflow.places[0].run = [](StepContext&) -> StepOutcome { return Again{"c", "skip"}; };
    rig.run_whole();
    CHECK(rig.row("run", "r-1")["code"] == "INTERNAL");
    CHECK(seen.empty());
  }
  SECTION("from the cleanup is INTERNAL") {
    rig.workflow.cleanup = {place("x", [](StepContext&) -> StepOutcome {
      return Again{"a", "no"};
    })};
    rig.run_whole();
    CHECK(rig.row("run", "r-1")["code"] == "INTERNAL");
    CHECK(rig.row("run", "r-1")["state"] == "failed");
  }
}

TEST_CASE("a failure commits its rows, runs every cleanup place, and masks nothing") {
  Rig rig;
  std::string seen;
  rig.workflow.places = {place("a",
                               [](StepContext&) -> StepOutcome {
                                 return Error(Code::kWipeUnverified, "disk s1 lies");
                               }),
                         place("b", [&](StepContext&) -> StepOutcome {
                           seen += "b";
                           return Done{};
                         })};
  rig.workflow.cleanup = {place("x",
                                [&](StepContext&) -> StepOutcome {
                                  seen += "x";
                                  CHECK(rig.row("node", "n1")["state"] == "failed");
                                  return Error(Code::kUnavailable, "no BMC");
                                }),
                          place("y", [&](StepContext&) -> StepOutcome {
                            seen += "y";
                            return Done{};
                          })};
  rig.run_whole();
  CHECK(seen == "xy");
  CHECK(rig.journal() ==
        "opened started(a) failed(a) started(x) failed(x) started(y) done(y) finished");
  CHECK(rig.row("run", "r-1")["code"] == "WIPE_UNVERIFIED");
  CHECK(rig.row("run", "r-1")["state"] == "failed");
  CHECK(rig.row("step", "r-1-p1-c01")["code"] == "UNAVAILABLE");
  CHECK(rig.row("node", "n1")["state"] == "failed");
}

TEST_CASE("what goes wrong after all places makes the run fail") {
  Rig rig;
  std::string seen;
  rig.workflow.places = {place("a", [](StepContext&) -> StepOutcome { return Done{}; })};
  rig.workflow.cleanup = {place("x",
                                [&](StepContext&) -> StepOutcome {
                                  seen += "x";
                                  return Done{};
                                }),
                          place("y", [&](StepContext&) -> StepOutcome {
                            seen += "y";
                            return Done{};
                          })};
  std::string code;
  SECTION("a cleanup place") {
    rig.workflow.cleanup[0].run = [](StepContext&) -> StepOutcome {
      return Error(Code::kPowerNotOff, "still on");
    };
    rig.run_whole();
    CHECK(seen == "y");
    CHECK(rig.row("run", "r-1")["code"] == "POWER_NOT_OFF");
  }
  SECTION("the rows of the end") {
    rig.workflow.succeed = [](StepContext&) -> Result<Done> {
      return Error(Code::kEvidenceRefused, "not shown to be clean");
    };
    rig.run_whole();
    CHECK(seen == "xy");
    CHECK(rig.row("run", "r-1")["code"] == "EVIDENCE_REFUSED");
    CHECK(rig.journal() ==
          "opened started(a) done(a) started(x) done(x) started(y) done(y) failed finished");
  }
  CHECK(rig.row("run", "r-1")["state"] == "failed");
  CHECK(rig.row("node", "n1")["state"] == "failed");
}

TEST_CASE("an exception or rows that may not be written fail the run and not the site") {
  Rig rig;
  rig.workflow.places = {place("a", [](StepContext&) -> StepOutcome { return Done{}; })};
  std::string state = "failed";
  SECTION("an exception in a step") {
    rig.workflow.places[0].run = [](StepContext&) -> StepOutcome {
      return Done{Json::object().at("missing"), {}, {}};
    };
  }
  SECTION("a broken assertion") {
    rig.workflow.places[0].run = [](StepContext& step) -> StepOutcome {
      STEP_CHECK(step.pass == 2, "trust-first");
      return Done{};
    };
  }
  SECTION("rows without their key") {
    rig.workflow.places[0].run = [](StepContext&) -> StepOutcome {
      return Done{{}, {node_row("half"), {"lease", "l1", Json{{"lease", "l2"}}}}, {}};
    };
  }
  SECTION("rows of the end without their key") {
    rig.workflow.succeed = [](StepContext&) -> Result<Done> {
      return Done{{}, {node_row("half"), {"lease", "l1", Json{{"lease", "l2"}}}}, {}};
    };
  }
  SECTION("and the rows of the failure as well") {
    state = "failed-generic";
    rig.workflow.places[0].run = [](StepContext&) -> StepOutcome {
      return Error(Code::kInternal, "first");
    };
    rig.workflow.fail = [](StepContext&, const Error&) {
      return Done{{}, {{"lease", "l1", Json{{"lease", "l2"}}}}, {}};
    };
  }
  SECTION("or an exception there") {
    state = "failed-generic";
    rig.workflow.places[0].run = [](StepContext&) -> StepOutcome {
      return Error(Code::kInternal, "first");
    };
    rig.workflow.fail = [](StepContext&, const Error&) {
      return Done{Json::object().at("missing"), {}, {}};
    };
  }
  rig.run_whole();
  CHECK(rig.row("run", "r-1")["code"] == "INTERNAL");
  CHECK(rig.row("run", "r-1")["state"] == "failed");
  CHECK(rig.row("node", "n1")["state"] == state);
}

TEST_CASE("one-run: a node with an open run takes no second") {
  Rig rig;
  bool free = false;
  rig.workflow.places = {place("a", [&](StepContext&) -> StepOutcome {
    if (!free) return Poll{"held", 10, 10'000};
    return Done{};
  })};
  REQUIRE(rig.start().ok());
  REQUIRE(rig.begin(run_info("r-1")).ok());
  CHECK(rig.begin(run_info("r-2")).error().code == Code::kConflict);
  CHECK(rig.begin(run_info("r-3", "n2")).ok());
  rig.go([&] { return rig.engine->has_open_run(NodeId("n1")); });
  free = true;
  rig.go();
  CHECK(rig.row("run", "r-2").is_null());
  CHECK_FALSE(rig.engine->has_open_run(NodeId("n1")));
  REQUIRE(rig.begin(run_info("r-4")).ok());
  rig.go();
  CHECK(rig.row("run", "r-4")["state"] == "succeeded");
}

TEST_CASE("a run whose beginning was rolled back is forgotten") {
  Rig rig;
  REQUIRE(rig.start().ok());
  Status begun = rig.database->transact_and_wait([&](Sql& sql) -> Status {
    TRY(rig.engine->begin(sql, run_info("r-1")));
    return Error(Code::kConflict, "no");
  });
  REQUIRE_FALSE(begun.ok());
  rig.engine->launch(RunId("r-1"));
  rig.go();
  CHECK(rig.row("run", "r-1").is_null());
  CHECK(rig.events.empty());
}
