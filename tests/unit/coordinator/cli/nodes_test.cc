#include "coordinator/cli/nodes.h"

#include <catch2/catch.hpp>

#include "tests/unit/coordinator/cli/fake_api.h"

namespace leasehold::test {
namespace {

Json failed_node() {
  return node_row("n2", {{"state", "failed"},
                         {"failedFrom", "releasing"},
                         {"maintenance", true},
                         {"trust", "tenant-controlled"},
                         {"clearance", "none"},
                         {"placeable", false},
                         {"powerOffOwed", true},
                         {"lease", "lease-n2"},
                         {"failure",
                          {{"code", "FIRMWARE_DRIFT"},
                           {"message", "bios is 2.3.9\x1b[2J"},
                           {"run", "r-2"},
                           {"at", "2026-11-29T11:00:00.000Z"}}}});
}

}  // namespace

TEST_CASE("node list shows each machine, and says when there is none") {
  Bench bench;
  FakeApi& api = bench.coordinator;
  api.answer("GET /v1/nodes?limit=1000",
             {{"items", {node_row("n1"), failed_node()}}, {"next", ""}});
  REQUIRE(node_list(bench.session, {}).ok());
  const std::string text = bench.printed();
  INFO(text);
  CHECK(has(text, "NODE   STATE   CLEARANCE  TRUST              FAILURE"));
  CHECK(has(text, "s1/n1  ready   clean      platform"));
  CHECK(has(text, "s1/n2  failed  none       tenant-controlled  FIRMWARE_DRIFT  power-off owed"));
  bench.console.json = true;
  REQUIRE(node_list(bench.session, {}).ok());
  CHECK(bench.printed_json()["items"][1] == failed_node());
  bench.console.json = false;
  api.answer("GET /v1/nodes?site=s1&state=ready&limit=1000",
             {{"items", Json::array()}, {"next", ""}});
  REQUIRE(node_list(bench.session, {"s1", "", "ready"}).ok());
  CHECK(has(bench.printed(), "no node is like that"));
}

TEST_CASE("node list fits 80 columns when a machine has everything") {
  Bench bench;
  bench.console.width = 80;
  Json node = failed_node();
  node["node"] = "a-machine-with-a-rather-long-name";
  node["labels"] = {{"a", "b"}};
  bench.coordinator.answer("GET /v1/nodes", {{"items", {node}}, {"next", ""}});
  REQUIRE(node_list(bench.session, {}).ok());
  std::istringstream lines(bench.printed());
  for (std::string line; std::getline(lines, line);) CHECK(display_width(line) <= 80);
}

TEST_CASE("node show says why it failed and what to do, harmlessly") {
  Bench bench;
  Json node = failed_node();
  node["disks"] = {{{"serial", "SN1"},
                    {"model", "Example 4T"},
                    {"capacity_bytes", 3'840'755'982'336},
                    {"transport", "nvme"},
                    {"hidden_areas", "none"}}};
  node["runs"] = {{{"run", "r-2"},
                   {"workflow", "metal-tenant-root-release@1"},
                   {"state", "failed"},
                   {"code", "FIRMWARE_DRIFT"},
                   {"startedAt", "2026-11-29T10:59:00.000Z"},
                   {"finishedAt", "2026-11-29T11:00:00.000Z"}}};
  bench.coordinator.answer("GET /v1/nodes/s1/n2", node);
  REQUIRE(node_show(bench.session, "n2").ok());
  const std::string text = bench.printed();
  INFO(text);
  CHECK(has(text, "failed, from releasing"));
  CHECK(has(text, "FIRMWARE_DRIFT: bios is 2.3.9?[2J\n"));
  CHECK(has(text, std::string(code_next(Code::kFirmwareDrift))));
  CHECK(has(text, "Off is owed"));
  CHECK(has(text, "3.8 TB"));
  CHECK(has(text, "metal-tenant-root-release@1"));
}

TEST_CASE("a node is found by its own name if one site has it") {
  Bench bench;
  FakeApi& api = bench.coordinator;
  api.answer("GET /v1/nodes/s1/n1", node_row("n1"));
  CHECK(find_in_sites(bench.session, "nodes", "n1").value()["node"] == "n1");
  CHECK(find_in_sites(bench.session, "nodes", "s1/n1").value()["node"] == "n1");
  CHECK(api.asked().back() == "GET /v1/nodes/s1/n1");
}

TEST_CASE("a name that more than one site has, or none, is said so") {
  Bench bench;
  FakeApi& api = bench.coordinator;
  api.answer("GET /v1/sites?limit=1000",
             {{"items", {{{"site", "s1"}}, {{"site", "s2"}}}}, {"next", ""}});
  api.answer("GET /v1/nodes/s1/n1", node_row("n1"));
  api.answer("GET /v1/nodes/s2/n1", node_row("n1", {{"site", "s2"}}));
  const Error ambiguous = find_in_sites(bench.session, "nodes", "n1").error();
  CHECK(ambiguous.code == Code::kInvalidInput);
  CHECK(has(ambiguous.message, "s1/n1, s2/n1; write SITE/NODE"));
  const Error none = find_in_sites(bench.session, "nodes", "n9").error();
  CHECK(none.code == Code::kNotFound);
  CHECK(has(none.message, "there is no node \"n9\"; see: leasehold node list"));
  CHECK(find_in_sites(bench.session, "nodes", "s1/n9").error().code == Code::kNotFound);
  const size_t asked = api.asked().size();
  for (const char* wrong : {"", "N1", "s1/", "/n1", "s1/n1/x", "a b", "../x"}) {
    CHECK(find_in_sites(bench.session, "nodes", wrong).error().code == Code::kInvalidInput);
  }
  CHECK(api.asked().size() == asked);  // nothing was asked for them
}

TEST_CASE("labels and taints are changed one by one") {
  Bench bench;
  FakeApi& api = bench.coordinator;
  api.answer("GET /v1/nodes/s1/n1",
             node_row("n1", {{"labels", {{"rack", "a"}, {"old", "x"}}}, {"taints", {"slow"}}}));
  api.answer("PATCH /v1/nodes/s1/n1", node_row("n1", {{"labels", {{"rack", "b=c"}}}}));
  REQUIRE(node_label(bench.session, "s1/n1", {"rack=b=c", "old-"}).ok());
  CHECK(api.asked().back() == R"(PATCH /v1/nodes/s1/n1 {"labels":{"rack":"b=c"}})");
  CHECK(bench.printed() == "s1/n1: labels rack=b=c\n");
  REQUIRE(node_taint(bench.session, "s1/n1", {"slow-", "gpu-broken"}).ok());
  CHECK(api.asked().back() == R"(PATCH /v1/nodes/s1/n1 {"taints":["gpu-broken"]})");
  const size_t asked = api.asked().size();
  for (const char* wrong : {"", "-", "=x", "word"}) {
    CHECK(node_label(bench.session, "s1/n1", {wrong}).error().field == "LABEL");
  }
  CHECK(node_taint(bench.session, "s1/n1", {"-"}).error().field == "TAINT");
  CHECK(api.asked().size() == asked);
}

TEST_CASE("cordon and location are patches of their own member") {
  Bench bench;
  FakeApi& api = bench.coordinator;
  api.answer("GET /v1/nodes/s1/n1", node_row("n1"));
  api.answer("PATCH /v1/nodes/s1/n1", node_row("n1"));
  REQUIRE(node_cordon(bench.session, "n1", true).ok());
  CHECK(api.asked().back() == R"(PATCH /v1/nodes/s1/n1 {"cordon":true})");
  CHECK(has(bench.printed(), "nothing is placed on it"));
  REQUIRE(node_cordon(bench.session, "n1", false).ok());
  CHECK(api.asked().back() == R"(PATCH /v1/nodes/s1/n1 {"cordon":false})");
  REQUIRE(node_set_location(bench.session, "n1", "row 3").ok());
  CHECK(api.asked().back() == R"(PATCH /v1/nodes/s1/n1 {"location":"row 3"})");
  bench.console.json = true;
  bench.printed();
  REQUIRE(node_cordon(bench.session, "n1", true).ok());
  CHECK(bench.printed_json() == node_row("n1"));
}

}  // namespace leasehold::test
