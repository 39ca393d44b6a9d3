// Restarts: attempts, unknown workflows, crashes that count and crashes that do not, a full disk.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/engine/crash_record.h"
#include "tests/unit/agent/engine/rig.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

Place blocked(const std::string& name) {
  return place(name, [](StepContext&) -> StepOutcome { return Poll{"blocked", 1000, 50'000}; });
}
Place fine(const std::string& name) {
  return place(name, [](StepContext&) -> StepOutcome { return Done{}; });
}
bool started(Rig& rig, const std::string& name) {
  for (const RunEvent& event : rig.events) {
    if (event.kind == "started" && event.place == name) return true;
  }
  return false;
}

// Begins (or goes on with) the run in a child process, whose step at "a" ends it as told.
int child_dies(Rig& rig, void (*die)()) {
  pid_t child = ::fork();
  if (child == 0) {
    // The child must not write into the test's report.
    ::close(STDOUT_FILENO);
    ::close(STDERR_FILENO);
    rig.workflow.places = {place("a", [die](StepContext&) -> StepOutcome {
      die();
      return Done{};
    })};
    if (!rig.start().ok()) ::_exit(97);
    if (rig.row("run", "r-1").is_null() && !rig.begin(run_info("r-1")).ok()) ::_exit(98);
    while (!rig.engine->open_runs().empty() && rig.time.turn()) {
    }
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}
void abort_now() { ::abort(); }
void segfault() {
  void* page = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<volatile char*>(page) = 1;
}
void killed() { ::raise(SIGKILL); }
void bus_error() { ::raise(SIGBUS); }

}  // namespace

TEST_CASE("a started step runs again with the next attempt, and knows it") {
  Rig rig;
  rig.workflow.places = {fine("a"), blocked("b")};
  REQUIRE(rig.start().ok());
  REQUIRE(rig.begin(run_info("r-1")).ok());
  rig.go([&] { return started(rig, "b"); });
  rig.stop();
  bool recovering = false;
  rig.workflow.places[1].run = [&](StepContext& step) -> StepOutcome {
    recovering = step.recovering && step.attempt == 2;
    return Done{};
  };
  REQUIRE(rig.start().ok());
  CHECK(rig.engine->has_open_run(NodeId("n1")));
  rig.go();
  CHECK(recovering);
  CHECK(rig.journal() == "opened started(a) done(a) started(b) started(b/2) done(b/2) finished");
  CHECK(rig.row("step", "r-1-p1-02")["attempt"] == 2);
}

TEST_CASE("a wait begins anew with its attempt") {
  Rig rig;
  rig.workflow.places = {blocked("a")};
  REQUIRE(rig.start().ok());
  REQUIRE(rig.begin(run_info("r-1")).ok());
  rig.go([&] { return rig.time.monotonic_ms() == 40'000; });
  rig.stop();
  REQUIRE(rig.start().ok());
  rig.go();
  CHECK(rig.time.monotonic_ms() == 90'000);
  CHECK(rig.row("run", "r-1")["code"] == "TIMEOUT");
}

TEST_CASE("a run that had failed goes on with its cleanup") {
  Rig rig;
  rig.workflow.places = {
      place("a", [](StepContext&) -> StepOutcome { return Error(Code::kDiagFailed, "gpu"); })};
  rig.workflow.cleanup = {fine("x"), blocked("y")};
  REQUIRE(rig.start().ok());
  REQUIRE(rig.begin(run_info("r-1")).ok());
  rig.go([&] { return started(rig, "y"); });
  rig.stop();
  rig.workflow.cleanup[1] = fine("y");
  REQUIRE(rig.start().ok());
  rig.go();
  CHECK(rig.row("run", "r-1")["code"] == "DIAG_FAILED");
  CHECK(rig.journal() ==
        "opened started(a) failed(a) started(x) done(x) started(y) started(y/2) "
        "done(y/2) finished");
}

TEST_CASE("an unknown workflow fails as UNKNOWN_WORKFLOW before the loop runs") {
  Rig rig;
  rig.workflow.places = {blocked("a")};
  REQUIRE(rig.start().ok());
  REQUIRE(rig.begin(run_info("r-1")).ok());
  rig.go([&] { return started(rig, "a"); });
  rig.stop();
  std::string node = "failed-generic";
  SECTION("its name") { rig.workflow.name = "fake@2"; }
  SECTION("or its place") {
    rig.workflow.places = {fine("other")};
    node = "failed";
  }
  REQUIRE(rig.start().ok());
  CHECK(rig.row("run", "r-1")["code"] == "UNKNOWN_WORKFLOW");
  CHECK(rig.row("run", "r-1")["state"] == "failed");
  CHECK(rig.row("node", "n1")["state"] == node);
  CHECK(rig.engine->open_runs().empty());
}

TEST_CASE("an unknown workflow that is begun fails the same way") {
  Rig rig;
  RunInfo run = run_info("r-1");
  run.workflow = "other@1";
  rig.run_whole(run);
  CHECK(rig.row("run", "r-1")["code"] == "UNKNOWN_WORKFLOW");
}

TEST_CASE("a journal that no run can have written stops the start with DATABASE") {
  Rig rig;
  rig.workflow.places = {blocked("a")};
  REQUIRE(rig.start().ok());
  REQUIRE(rig.begin(run_info("r-1")).ok());
  rig.go([&] { return started(rig, "a"); });
  Status forged = rig.database->transact_and_wait(
      [](Sql& sql) { return sql.run("UPDATE journal SET place='b', kind='done' WHERE seq=2"); });
  REQUIRE(forged.ok());
  rig.stop();
  Status status = rig.start();
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == Code::kDatabase);
  CHECK(status.error().message.find("r-1") != std::string::npos);
}

TEST_CASE("three crashes by a fault of its own make a run POISONED, SIGKILL never does") {
  Rig rig;
  rig.crash_file = rig.folder.file("crashes");
  rig.workflow.cleanup = {fine("x")};
  CHECK(child_dies(rig, abort_now) == SIGABRT);
  CHECK(child_dies(rig, killed) == SIGKILL);
  CHECK(child_dies(rig, bus_error) == SIGBUS);
  CHECK(child_dies(rig, killed) == SIGKILL);
  CHECK(child_dies(rig, killed) == SIGKILL);

  bool ran = false;
  rig.workflow.places = {place("a", [&](StepContext&) -> StepOutcome {
    ran = true;
    return Done{};
  })};
  SECTION("two are not enough") {
    REQUIRE(rig.start().ok());
    rig.go();
    CHECK(ran);
    CHECK(rig.row("run", "r-1")["state"] == "succeeded");
  }
  SECTION("three are") {
    CHECK(child_dies(rig, segfault) == SIGSEGV);
    REQUIRE(rig.start().ok());
    // Quarantined before the loop has taken a turn.
    CHECK(rig.row("run", "r-1")["code"] == "POISONED");
    CHECK(rig.row("node", "n1")["state"] == "failed");
    rig.go();
    CHECK_FALSE(ran);
    CHECK(rig.row("run", "r-1")["state"] == "failed");
    CHECK(rig.row("step", "r-1-p1-c01")["state"] == "done");
  }
}

TEST_CASE("the same crash is never counted twice, and a foreign run's not at all") {
  Rig rig;
  rig.crash_file = rig.folder.file("crashes");
  rig.workflow.places = {blocked("a")};
  REQUIRE(rig.start().ok());
  REQUIRE(rig.begin(run_info("r-1")).ok());
  rig.go([&] { return started(rig, "a"); });
  for (int start = 0; start < 4; ++start) {
    rig.stop();
    // As if the agent were killed each time before it could empty the file.
    REQUIRE(
        write_file_atomic(rig.crash_file, "life-1 r-1\nlife-1 r-1\nlife-2 r-9\nlife-", 0600).ok());
    REQUIRE(rig.start().ok());
  }
  CHECK(rig.row("run", "r-1")["code"] == "");
  CHECK(rig.journal().find("crashed") == rig.journal().rfind("crashed"));
}

TEST_CASE("a cleanup place that crashes is given up after the third time, the next one runs") {
  Rig rig;
  rig.crash_file = rig.folder.file("crashes");
  rig.workflow.places = {fine("a")};
  rig.workflow.cleanup = {blocked("x"), fine("y")};
  REQUIRE(rig.start().ok());
  REQUIRE(rig.begin(run_info("r-1")).ok());
  rig.go([&] { return started(rig, "x"); });
  for (const char* life : {"1", "2", "3"}) {
    rig.stop();
    REQUIRE(write_file_atomic(rig.crash_file, std::string(life) + " r-1\n", 0600).ok());
    REQUIRE(rig.start().ok());
  }
  rig.go();
  CHECK(rig.row("step", "r-1-p1-c01")["code"] == "POISONED");
  CHECK(rig.row("step", "r-1-p1-c02")["state"] == "done");
  CHECK(rig.row("run", "r-1")["code"] == "POISONED");
}

TEST_CASE("a full disk delays a commit and loses nothing; the step does not run again") {
  Rig rig;
  int effects = 0;
  rig.workflow.places = {place("a", [&](StepContext&) -> StepOutcome {
    ++effects;
    rig.disk.full = true;
    return Done{{{"n", effects}}, {node_row("fenced")}, {}};
  })};
  REQUIRE(rig.start().ok());
  REQUIRE(rig.begin(run_info("r-1")).ok());
  rig.go([&] { return rig.disk.full_hits > 5; });
  CHECK(effects == 1);
  CHECK(rig.row("node", "n1").is_null());
  CHECK(rig.row("run", "r-1")["state"] == "open");
  SECTION("until there is room") {}
  SECTION("or the agent is killed meanwhile") {
    rig.stop();
    rig.workflow.places[0].run = [&](StepContext&) -> StepOutcome {
      return Done{{{"n", effects}}, {node_row("fenced")}, {}};
    };
    rig.disk.full = false;
    REQUIRE(rig.start().ok());
  }
  rig.disk.full = false;
  rig.go();
  CHECK(effects == 1);
  CHECK(rig.row("run", "r-1")["state"] == "succeeded");
  CHECK(rig.row("step", "r-1-p1-01")["output"]["n"] == 1);
}
