#include "coordinator/cli/runs.h"

#include <catch2/catch.hpp>

#include "coordinator/cli/events.h"
#include "tests/unit/coordinator/cli/fake_api.h"

namespace leasehold::test {
namespace {

Json step(const std::string& place, const std::string& state, int pass = 1) {
  return {{"step", place + "-" + std::to_string(pass)},
          {"place", place},
          {"group", "5"},
          {"title", "erase"},
          {"pass", pass},
          {"attempt", 1},
          {"state", state},
          {"startedAt", "2026-11-29T11:59:00.000Z"},
          {"finishedAt", state == "started" ? "" : "2026-11-29T11:59:01.500Z"}};
}

Json run_row(const std::string& state, const Json& steps, const Json& changes = Json::object()) {
  Json row = {{"site", "s1"},
              {"run", "r-1"},
              {"node", "n1"},
              {"lease", "lease-n1"},
              {"workflow", "metal-tenant-root-release@1"},
              {"state", state},
              {"place", "disk.wipe"},
              {"title", "erase"},
              {"pass", 1},
              {"code", ""},
              {"message", ""},
              {"startedAt", "2026-11-29T11:59:00.000Z"},
              {"finishedAt", state == "open" ? "" : "2026-11-29T12:00:00.000Z"},
              {"steps", steps}};
  row.update(changes);
  return row;
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("run list shows the newest, and where an open run is") {
  Bench bench;
  bench.coordinator.answer(
      "GET /v1/runs?limit=50",
      {{"items",
        {run_row("open", nullptr),
         run_row("failed", nullptr, {{"run", "r-2"}, {"code", "FIRMWARE_DRIFT"}})}},
       {"next", ""}});
  REQUIRE(run_list(bench.session, {}).ok());
  const std::string text = bench.printed();
  INFO(text);
  CHECK(has(text, "s1/r-1  n1    open    disk.wipe"));
  CHECK(has(text, "s1/r-2  n1    failed  FIRMWARE_DRIFT"));
  CHECK(bench.noted().empty());
}

TEST_CASE("runs of a node are asked for by its site and id") {
  Bench bench;
  bench.coordinator.answer("GET /v1/nodes/s1/n1", node_row("n1"));
  bench.coordinator.answer(
      "GET /v1/runs?site=s1&node=n1&state=open&limit=2",
      {{"items", {run_row("open", nullptr), run_row("open", nullptr)}}, {"next", "x"}});
  REQUIRE(run_list(bench.session, {"", "n1", "open", 2}).ok());
  CHECK(has(bench.noted(), "newest 2; --limit 0 for all"));
}

TEST_CASE("run watch prints each step once, when it is over, to the end") {
  Bench bench;
  FakeApi& api = bench.coordinator;
  const std::string path = "GET /v1/runs/s1/r-1";
  api.answer(path, run_row("open", Json::array()));
  api.answer(path, run_row("open", {step("power.setPower", "done"), step("disk.wipe", "started")}));
  api.answer(path, run_row("open", {step("power.setPower", "done"), step("disk.wipe", "again")}));
  api.answer(path, run_row("succeeded", {step("power.setPower", "done"), step("disk.wipe", "again"),
                                         step("disk.wipe", "done", 2)}));
  CHECK(run_watch(bench.session, "s1/r-1").value() == kExitDone);
  const std::string text = bench.printed();
  INFO(text);
  CHECK(text.starts_with("s1/r-1  metal-tenant-root-release@1, node n1\n"));
  CHECK(count_of(text, "power.setPower") == 1);
  CHECK(count_of(text, "disk.wipe ") == 2);
  CHECK(has(text, "disk.wipe (pass 2)"));
  CHECK(has(text, "1.5 s"));
  CHECK(has(text, "run succeeded after 60 s\n"));
}

TEST_CASE("a failed run says why, what to do, and ends with 1") {
  Bench bench;
  Json failed = step("disk.wipe", "failed");
  failed["code"] = "WIPE_UNVERIFIED";
  failed["message"] = "marker\x1b[2J";
  bench.coordinator.answer("GET /v1/runs/s1/r-1",
                           run_row("failed", Json::array({failed}),
                                   {{"code", "WIPE_UNVERIFIED"}, {"message", "marker"}}));
  CHECK(run_watch(bench.session, "r-1").value() == kExitRefused);
  const std::string text = bench.printed();
  CHECK(has(text, "FAILED"));
  CHECK(has(text, "WIPE_UNVERIFIED: marker?[2J\n"));
  CHECK(has(text, std::string(code_next(Code::kWipeUnverified))));
  bench.console.json = true;
  CHECK(run_watch(bench.session, "r-1").value() == kExitRefused);
  CHECK(bench.printed_json()["code"] == "WIPE_UNVERIFIED");
}

TEST_CASE("run show has every step") {
  Bench bench;
  bench.coordinator.answer("GET /v1/runs/s1/r-1",
                           run_row("open", Json::array({step("power.setPower", "done")})));
  REQUIRE(run_show(bench.session, "r-1").ok());
  const std::string text = bench.printed();
  CHECK(has(text, "disk.wipe: erase"));
  CHECK(has(text, "5      power.setPower  done   11:59:01"));
}

TEST_CASE("what follows goes on when the coordinator comes back, and says so once") {
  Bench bench;
  const std::string path = "GET /v1/runs/s1/r-1";
  bench.coordinator.answer(path, run_row("open", Json::array()));
  bench.coordinator.answer(path, run_row("open", Json::array({step("power.setPower", "done")})));
  bench.coordinator.answer(path,
                           run_row("succeeded", Json::array({step("power.setPower", "done")})));
  bench.coordinator.away_for(2, 3);  // after two calls three are broken off
  CHECK(run_watch(bench.session, "s1/r-1").value() == kExitDone);
  const std::string notes = bench.noted();
  CHECK(count_of(notes, "the coordinator does not answer; going on when it does\n") == 1);
  CHECK(count_of(notes, "the coordinator answers again\n") == 1);
  CHECK(count_of(bench.printed(), "power.setPower") == 1);
}

TEST_CASE("a coordinator that was never there is not waited for") {
  Bench bench;
  bench.coordinator.away_for(0, 100);
  const Error error = run_watch(bench.session, "s1/r-1").error();
  CHECK(error.code == Code::kTimeout);
  CHECK(bench.clock.monotonic_ms() == 0);
}

TEST_CASE("events shows the newest, in order, each on its line") {
  Bench bench;
  Json page = Json::array();
  for (int n = 1; n <= 3; ++n) {
    page.push_back({{"n", n},
                    {"site", "s1"},
                    {"node", "n1"},
                    {"name", "node.quarantined"},
                    {"at", "2026-11-29T11:00:00.000Z"},
                    {"code", "E" + std::to_string(n) + "\n"}});
  }
  bench.coordinator.answer("GET /v1/events?after=0&last=2&wait=0", {{"events", page}, {"next", 3}});
  bench.coordinator.answer("GET /v1/events?after=3&wait=0",
                           {{"events", Json::array()}, {"next", 3}});
  EventsOptions options;
  options.last = 2;
  REQUIRE(events(bench.session, options).ok());
  const std::string text = bench.printed();
  INFO(text);
  CHECK_FALSE(has(text, "E1"));
  CHECK(has(text, "s1/n1           node.quarantined        code=E2?\n"));
  CHECK(text.find("E2") < text.find("E3"));
  bench.console.json = true;
  REQUIRE(events(bench.session, options).ok());
  const Json json = bench.printed_json();
  CHECK(json["events"].size() == 2);
  CHECK(json["next"] == 3);
  options.site = "S 1";
  CHECK(events(bench.session, options).error().field == "--site");
}

TEST_CASE("audit is a table of calls") {
  Bench bench;
  bench.coordinator.answer("GET /v1/audit?limit=1000&after=0&last=50",
                           {{"items",
                             {{{"n", 1},
                               {"at", "2026-11-29T11:00:00.000Z"},
                               {"who", "spiffe://example.net/operator/ann"},
                               {"method", "POST"},
                               {"path", "/v1/sites"},
                               {"status", 409},
                               {"code", "CONFLICT"}}}},
                            {"next", 1}});
  REQUIRE(audit(bench.session, {}).ok());
  CHECK(has(bench.printed(),
            "spiffe://example.net/operator/ann  POST    /v1/sites     409  CONFLICT"));
}

}  // namespace leasehold::test
