#include "tests/support/workflow_laws.h"

#include <catch2/catch.hpp>

#include "tests/unit/agent/engine/fake_world.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

LawWorldFactory fake(Careless careless = Careless::kNo) {
  return [careless] { return std::make_unique<FakeWorld>(careless); };
}

void check_holds(const LawReport& report) {
  for (const std::string& problem : report.problems) FAIL_CHECK(problem);
}

}  // namespace

TEST_CASE("law 1: each step twice, same end") { check_holds(check_each_step_twice(fake())); }

TEST_CASE("law 2: a failure at each step ends quarantined and cleaned up") {
  LawReport report = check_failure_at_each_step(fake());
  check_holds(report);
  CHECK(report.runs == 1 + 2 * 7);
}

TEST_CASE("law 3: a crash after each journal write, same end") {
  LawReport report = check_crash_after_each_write(fake());
  check_holds(report);
  // opened, eleven attempts' ends with the next one's start, the first start, finished
  CHECK(report.points == 13);
}

TEST_CASE("law 4: the reply lost after each act, same end") {
  LawReport report = check_reply_lost_after_each_act(fake());
  check_holds(report);
  CHECK(report.points == 13);
}

TEST_CASE("the laws see what breaks them") {
  CHECK_FALSE(check_each_step_twice(fake(Careless::kActsTwice)).problems.empty());
  CHECK_FALSE(check_failure_at_each_step(fake(Careless::kForgetsCleanup)).problems.empty());
  CHECK_FALSE(check_crash_after_each_write(fake(Careless::kActsInVain)).problems.empty());
  CHECK_FALSE(check_reply_lost_after_each_act(fake(Careless::kActsTwice)).problems.empty());
}
