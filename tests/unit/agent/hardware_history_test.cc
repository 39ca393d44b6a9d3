// Serials, and whose they are: a machine, or a part of one, gets rid of its past under no new name.
#include "agent/hardware_history.h"

#include <catch2/catch.hpp>

#include "agent/steps/manifest.h"
#include "tests/unit/agent/enrolling_site.h"

using namespace leasehold;
using namespace leasehold::test;

TEST_CASE("words that makers leave in are no serials") {
  CHECK(credible_serial("  SN-12 ") == "sn-12");
  for (const char* none : {"", "  ", "To Be Filled By O.E.M.", "Default string", "000000000", "..",
                           "N/A", "ffffffff-ffff-ffff-ffff-ffffffffffff", "Not Specified",
                           "03000200-0400-0500-0006-000700080009"}) {
    INFO(none);
    CHECK(credible_serial(none) == "");
  }
  SystemInfo system{"Acme", "X1", "SN1", "4C4C4544-0000-1000-8000-000000000001", "BRD-1"};
  SystemInfo other = system;
  other.board_serial = "BRD-2";
  CHECK(hardware_key_of(system).size() == 64);
  CHECK(hardware_key_of(system) != hardware_key_of(other));
  other.uuid = other.board_serial = "None";
  CHECK(hardware_key_of(other) == "");
}

TEST_CASE("the machine that booted is compared with the BMC's word on it") {
  InventoryReport report;
  report.system = {"Acme", "X1", "SN1", "4c4c4544-1122-3344-8000-000000000001", "BRD-1"};
  report.macs = {"52:54:00:00:00:01"};
  auto claims = [](const char* serial, const char* uuid, const char* mac) {
    return Json{{"serial", serial}, {"sku", ""}, {"uuid", uuid}, {"macs", Json::array({mac})}};
  };
  CHECK(is_same_machine(claims("sn1", "", "52:54:00:00:00:09"), report) == SameMachine::kYes);
  CHECK(is_same_machine(claims("BRD-1", "", "52:54:00:00:00:09"), report) == SameMachine::kYes);
  CHECK(is_same_machine(claims("", "", "52:54:00:00:00:01"), report) == SameMachine::kYes);
  // SMBIOS and the BMC write the UUID's first fields in different byte orders.
  CHECK(is_same_machine(claims("SN9", "44454c4c-2211-4433-8000-000000000001", "x"), report) ==
        SameMachine::kYes);
  CHECK(is_same_machine(claims("SN9", "", "52:54:00:00:00:09"), report) == SameMachine::kNo);
  CHECK(is_same_machine(Json(), report) == SameMachine::kCannotSay);
}

TEST_CASE("history belongs to hardware: what is another node's is refused while enrolling") {
  Enrolling site;
  REQUIRE(site.enrol(Json::array({machine("a1", "https://10.0.0.8")})).ok());
  NodeRow fresh = site.node("a1");
  auto refusal = [&](const std::function<void(NodeRow&)>& show) -> std::string {
    NodeRow showing = fresh;
    show(showing);
    Status put = site.put(showing);
    if (put.ok()) return "accepted";
    CHECK(put.error().code == Code::kMachineKnown);
    return put.error().message;
  };
  Json theirs = make_manifest().to_json();
  Json by_model = theirs;
  by_model[0]["wwn"] = "eui.ffff";
  Json by_wwn = Json::array({theirs[0]});
  CHECK(refusal([&](NodeRow& n) { n.disks = by_wwn; }).find("disk eui.0001 belongs to node n1") ==
        0);
  CHECK(refusal([&](NodeRow& n) { n.disks = by_model; }).find("disk Model B S2") == 0);
  CHECK(refusal([](NodeRow& n) { n.gpus = Json{"1001"}; }).find("GPU 1001") == 0);
  std::string text = refusal([](NodeRow& n) { n.claims = Json{{"macs", {"52:54:00:77:00:10"}}}; });
  CHECK(text.find("MAC 52:54:00:77:00:10 belongs to node n1, which is releasing") == 0);
  CHECK(text.find("lease l-1") != std::string::npos);
  Json own = theirs;
  own[0]["wwn"] = "eui.aaaa";
  own[0]["serial"] = "S9";
  own.erase(1);
  CHECK(refusal([&](NodeRow& n) { n.disks = own; }) == "accepted");
}

TEST_CASE("history belongs to hardware: a part is forgotten only by a node that was never leased") {
  Enrolling site;
  REQUIRE(site.enrol(Json::array(
                         {machine("a1", "https://10.0.0.8"), machine("a2", "https://10.0.0.9")}))
              .ok());
  auto with_gpu = [&](const char* name, const Json& gpus) {
    NodeRow node = site.node(name);
    node.gpus = gpus;
    return site.put(node);
  };
  REQUIRE(with_gpu("a1", Json{"7001"}).ok());
  CHECK(with_gpu("a2", Json{"7001"}).error().code == Code::kMachineKnown);
  REQUIRE(with_gpu("a1", Json{"7002"}).ok());
  CHECK(with_gpu("a2", Json{"7001"}).ok());
  LeaseRow lease;
  lease.id = LeaseId("l-9");
  lease.node = NodeId("a2");
  lease.tenant = TenantId("acme");
  site.set(lease.change());
  REQUIRE(with_gpu("a2", Json::array()).ok());
  CHECK(with_gpu("a1", Json{"7001"}).error().code == Code::kMachineKnown);
}
