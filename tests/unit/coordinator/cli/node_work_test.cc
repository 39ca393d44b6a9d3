#include "coordinator/cli/node_work.h"

#include <catch2/catch.hpp>

#include "tests/unit/coordinator/cli/fake_api.h"

namespace leasehold::test {
namespace {

Json work_row(const std::string& state, const Json& changes = Json::object()) {
  Json row = {{"work", "w-1"},     {"site", "s1"},   {"node", "n1"},
              {"kind", "release"}, {"state", state}, {"code", ""},
              {"message", ""},     {"run", ""},      {"createdAt", "2026-11-29T12:00:00.000Z"},
              {"answeredAt", ""}};
  row.update(changes);
  return row;
}

struct WorkBench : Bench {
  NodeWorkOptions options;

  WorkBench() {
    coordinator.answer("GET /v1/nodes/s1/n1", node_row("n1", {{"lease", "lease-n1"}}));
    coordinator.answer("POST /v1/nodes/s1/n1/work", work_row("pending"), 202);
    coordinator.answer("GET /v1/sites/s1", {{"site", "s1"}, {"lastContactAt", ""}});
    options.kind = "release";
    options.node = "n1";
    options.yes = true;
  }
  size_t posts() {
    size_t count = 0;
    for (const std::string& call : coordinator.asked()) count += call.starts_with("POST ") ? 1 : 0;
    return count;
  }
};

}  // namespace

TEST_CASE("a release is asked for once, and its answer waited for") {
  WorkBench bench;
  bench.coordinator.answer("GET /v1/works/w-1", work_row("pending"));
  bench.coordinator.answer("GET /v1/works/w-1", work_row("accepted", {{"run", "r-1"}}));
  bench.options.reason = "lease over";
  CHECK(node_work(bench.session, bench.options).value() == kExitDone);
  CHECK(bench.posts() == 1);
  const std::string text = bench.printed();
  CHECK(has(text, "release of s1/n1: accepted, run r-1\n"));
  CHECK(has(text, "leasehold run watch s1/r-1"));
  bool asked_right = false;
  for (const std::string& call : bench.coordinator.asked()) {
    asked_right = asked_right ||
                  call == R"(POST /v1/nodes/s1/n1/work {"kind":"release","reason":"lease over"})";
  }
  CHECK(asked_right);
}

TEST_CASE("maintenance says on or off, and needs no run") {
  WorkBench bench;
  bench.options.kind = "maintenance";
  bench.options.on = false;
  bench.coordinator.answer("GET /v1/works/w-1", work_row("accepted", {{"kind", "maintenance"}}));
  CHECK(node_work(bench.session, bench.options).value() == kExitDone);
  CHECK(bench.printed() == "maintenance off of s1/n1: accepted\n");
}

TEST_CASE("a refusal of the site is an error with its code and advice") {
  WorkBench bench;
  bench.coordinator.answer("GET /v1/works/w-1",
                           work_row("refused", {{"code", "CONFLICT"}, {"message", "it is ready"}}));
  const Error error = node_work(bench.session, bench.options).error();
  CHECK(error.code == Code::kConflict);
  CHECK(has(error.message, "the site refused the release of s1/n1: it is ready\n"));
  CHECK(exit_code_of(error) == kExitRefused);
  CHECK(bench.printed().empty());
  bench.console.json = true;  // then the row is printed all the same
  CHECK_FALSE(node_work(bench.session, bench.options).ok());
  CHECK(bench.printed_json()["state"] == "refused");
}

TEST_CASE("a site's INVALID_INPUT is no usage error") {
  WorkBench bench;
  bench.coordinator.answer("GET /v1/works/w-1", work_row("refused", {{"code", "INVALID_INPUT"}}));
  CHECK(exit_code_of(node_work(bench.session, bench.options).error()) == kExitRefused);
}

TEST_CASE("a site that does not answer in time is named, and the work stands") {
  WorkBench bench;
  bench.coordinator.answer("GET /v1/works/w-1", work_row("pending"));
  bench.options.wait_s = 5;
  const Error error = node_work(bench.session, bench.options).error();
  CHECK(error.code == Code::kTimeout);
  CHECK(has(error.message, "site s1 has not answered the release of s1/n1 yet; it has never been"));
  CHECK(has(error.message, "leasehold work show w-1"));
  CHECK(bench.clock.monotonic_ms() >= 5'000);
  CHECK(bench.posts() == 1);
}

TEST_CASE(
    "a coordinator that goes away after it was asked is waited for, as long as for the site") {
  WorkBench bench;
  bench.coordinator.answer("GET /v1/works/w-1", work_row("accepted", {{"run", "r-1"}}));
  SECTION("it comes back in time") {
    bench.coordinator.away_for(3, 4);  // sites, node, work: then four are broken off
    CHECK(node_work(bench.session, bench.options).value() == kExitDone);
    CHECK(has(bench.noted(), "the coordinator answers again"));
  }
  SECTION("it does not") {
    bench.coordinator.away_for(3, 1000);
    bench.options.wait_s = 5;
    CHECK(node_work(bench.session, bench.options).error().code == Code::kTimeout);
    CHECK(bench.clock.monotonic_ms() >= 5'000);
    CHECK(bench.clock.monotonic_ms() < 7'000);
  }
  CHECK(bench.posts() == 1);
}

TEST_CASE("with --no-wait nothing is waited for") {
  WorkBench bench;
  bench.options.no_wait = true;
  CHECK(node_work(bench.session, bench.options).value() == kExitDone);
  CHECK(bench.printed() == "release of s1/n1: asked for; see: leasehold work show w-1\n");
  CHECK(bench.coordinator.asked().back().starts_with("POST "));
}

TEST_CASE("release and recover are not asked for without a yes") {
  WorkBench bench;
  bench.options.yes = false;
  for (const char* kind : {"release", "recover"}) {
    bench.options.kind = kind;
    const Error error = node_work(bench.session, bench.options).error();
    CHECK(error.field == "--yes");
    CHECK(has(error.message, "lease lease-n1) switches it off and erases every disk of it"));
  }
  CHECK(bench.posts() == 0);
  bench.options.kind = "inspect";
  bench.coordinator.answer("GET /v1/works/w-1", work_row("accepted"));
  CHECK(node_work(bench.session, bench.options).ok());
  CHECK(bench.posts() == 1);
}

TEST_CASE("with --watch the run's end is the exit code") {
  WorkBench bench;
  bench.options.watch = true;
  bench.coordinator.answer("GET /v1/works/w-1", work_row("accepted", {{"run", "r-1"}}));
  bench.coordinator.answer("GET /v1/runs/s1/r-1", {{"site", "s1"},
                                                   {"run", "r-1"},
                                                   {"node", "n1"},
                                                   {"state", "failed"},
                                                   {"code", "WIPE_UNVERIFIED"},
                                                   {"message", "marker-survived"},
                                                   {"steps", Json::array()}});
  CHECK(node_work(bench.session, bench.options).value() == kExitRefused);
  CHECK(has(bench.printed(), "WIPE_UNVERIFIED: marker-survived"));
  bench.console.json = true;
  CHECK(node_work(bench.session, bench.options).value() == kExitRefused);
  const Json json = bench.printed_json();
  CHECK(json["work"]["run"] == "r-1");
  CHECK(json["run"]["state"] == "failed");
}

TEST_CASE("work show tells what became of it") {
  WorkBench bench;
  bench.coordinator.answer("GET /v1/works/w-1",
                           work_row("refused", {{"code", "CONFLICT"}, {"message", "it is ready"}}));
  REQUIRE(work_show(bench.session, "w-1", 0).ok());
  CHECK(has(bench.printed(), "CONFLICT: it is ready"));
  CHECK(work_show(bench.session, "W 1", 0).error().field == "WORK");
}

}  // namespace leasehold::test
