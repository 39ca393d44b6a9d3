// The four workflow laws over every workflow of the agent's table. A workflow that is added is
// covered without a change here.
#include <catch2/catch.hpp>

#include "agent/workflows/all.h"
#include "tests/support/release_world.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

std::vector<std::string> workflow_names() {
  Tools none;
  std::vector<std::string> names;
  for (const Workflow& workflow : all_workflows(none)) names.push_back(workflow.name);
  return names;
}

void require_no_problems(const LawReport& report) {
  for (const std::string& problem : report.problems) UNSCOPED_INFO(problem);
  REQUIRE(report.problems.empty());
  REQUIRE(report.runs > 0);
}

LawWorldFactory world_of(const std::string& name) {
  return [name] { return std::make_unique<ReleaseWorld>(name); };
}

}  // namespace

TEST_CASE("workflow laws: each step twice") {
  for (const std::string& name : workflow_names()) {
    INFO(name);
    require_no_problems(check_each_step_twice(world_of(name)));
  }
}

TEST_CASE("workflow laws, fail-closed: failure at each step") {
  for (const std::string& name : workflow_names()) {
    INFO(name);
    require_no_problems(check_failure_at_each_step(world_of(name)));
  }
}

TEST_CASE("workflow laws, journal-first: a crash after each journal write, then the same end") {
  for (const std::string& name : workflow_names()) {
    INFO(name);
    LawReport report = check_crash_after_each_write(world_of(name));
    require_no_problems(report);
    REQUIRE(report.points > 0);
    WARN(name << ": killed after each of " << report.points << " journal writes");
  }
}

TEST_CASE("workflow laws: the reply lost after each act") {
  for (const std::string& name : workflow_names()) {
    INFO(name);
    require_no_problems(check_reply_lost_after_each_act(world_of(name)));
  }
}
