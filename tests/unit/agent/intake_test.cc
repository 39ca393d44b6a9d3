// The one intake: what an intent expects is compared with the node as it is, a quarantine is seen
// in the node's row, and a batch is whole or nothing.
#include "agent/intake.h"

#include <catch2/catch.hpp>

#include "tests/unit/agent/door_site.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

// The node n1, whose row each case makes what it needs.
class IntakeSite : public DoorSite {
 public:
  IntakeSite() : engine(engine_options()), intake(engine, world.tools()) {}

  void make_node(const std::function<void(NodeRow&)>& change) {
    REQUIRE(in([&](Sql& sql) -> Status {
              NodeRow node = TRY(Store::node(sql, NodeId("n1")));
              change(node);
              return row_store::put(sql, node.change());
            }).ok());
  }
  // The node's work_result.
  Json work(const std::string& kind, const Json& expects, const std::string& id = "w-9") {
    Json row = {{"table", "work"}, {"schema", 1}, {"work", id}, {"node", "n1"}, {"kind", kind}};
    if (!expects.is_null()) row["expects"] = expects;
    Json answer;
    REQUIRE(in([&](Sql& sql) -> Status {
              answer = TRY(intake.apply(sql, Json::array({row}))).work_results.at(0);
              return {};
            }).ok());
    return answer;
  }

  Engine engine;
  Intake intake;
};

void leased(NodeRow& node) { node.state = NodeState::kDeployed; }

void ready(NodeRow& node) {
  node.state = NodeState::kReady;
  node.trust = Trust::kPlatform;
  node.tenant_root = false;
  node.lease = LeaseId();
  node.fenced_run.clear();
  node.clean_run = "r-1";
}

void failed(NodeRow& node) {
  node.state = NodeState::kFailed;
  node.failed_from = "releasing";
  node.maintenance = true;
  node.power_off_owed = true;
  node.failure = Json{{"code", "WIPE_UNVERIFIED"}, {"message", "m"}, {"run", "r-7"}, {"at", ""}};
}

}  // namespace

TEST_CASE("a work whose expectation is not the node's is refused and changes nothing") {
  struct Case {
    const char* kind;
    Json expects;
    const char* said;  // in the refusal
    void (*make)(NodeRow&);
  };
  const std::vector<Case> cases = {
      {"release", {{"state", "ready"}}, "the node is deployed, not ready", leased},
      {"release", {{"lease", "l-2"}}, "the node's lease is \"l-1\", not \"l-2\"", leased},
      {"release", {{"lease", ""}}, "the node's lease is \"l-1\", not \"\"", leased},
      {"recover", {{"run", "r-8"}}, "the node failed in run \"r-7\", not \"r-8\"", failed},
      {"maintenance", {{"run", "r-8"}}, "the node failed in run \"r-7\", not \"r-8\"", failed},
      {"quarantine", {{"state", "deployed"}}, "the node is ready, not deployed", ready},
  };
  for (const Case& one : cases) {
    IntakeSite site;
    site.make_node(one.make);
    Json before = site.row("node", "n1");
    Json answer = site.work(one.kind, one.expects);
    INFO(one.kind << ": " << dump_json(answer));
    CHECK(answer["accepted"] == false);
    CHECK(answer["code"] == "CONFLICT");
    CHECK(answer["message"] == one.said);
    CHECK(answer["run"] == "");
    CHECK(site.row("node", "n1") == before);
    CHECK_FALSE(site.engine.has_open_run(NodeId("n1")));
    // The same work again is answered alike, also when it would hold by now.
    site.make_node(leased);
    CHECK(site.work(one.kind, one.expects) == answer);
  }
}

TEST_CASE("a work whose expectation holds is accepted") {
  IntakeSite site;
  site.make_node(leased);
  Json answer = site.work("release", {{"state", "deployed"}, {"lease", "l-1"}});
  INFO(dump_json(answer));
  CHECK(answer["accepted"] == true);
  CHECK(answer["run"] != "");
  CHECK(site.row("node", "n1")["state"] == "releasing");
}

TEST_CASE("a quarantined node is failed, in maintenance, owes power-off and says why") {
  IntakeSite site;
  site.make_node(ready);
  Json answer = site.work("quarantine", {{"state", "ready"}});
  INFO(dump_json(answer));
  CHECK(answer["accepted"] == true);
  Json node = site.row("node", "n1");
  CHECK(node["state"] == "failed");
  CHECK(node["failedFrom"] == "ready");
  CHECK(node["maintenance"] == true);
  CHECK(node["powerOffOwed"] == true);
  CHECK(node["trust"] == "platform");
  CHECK(node["failure"]["code"] == "QUARANTINED");
  CHECK(node["failure"]["run"] == "");
  CHECK(json_text(node["failure"], "message").find("w-9") != std::string::npos);
}

TEST_CASE("only a ready node is quarantined") {
  IntakeSite site;
  site.make_node(leased);
  Json before = site.row("node", "n1");
  Json answer = site.work("quarantine", nullptr);
  CHECK(answer["accepted"] == false);
  CHECK(answer["code"] == "CONFLICT");
  CHECK(site.row("node", "n1") == before);
}

TEST_CASE("one bad row of a batch refuses the good ones before it") {
  IntakeSite site;
  Json good = {{"table", "node_admin"}, {"schema", 1}, {"node", "n1"}, {"cordon", true}};
  Json bad = {{"table", "work"}, {"schema", 1}, {"work", "W 1"}, {"node", "n1"}};
  Status applied = site.in([&](Sql& sql) -> Status {
    TRY(site.intake.apply(sql, Json::array({good, bad})));
    return {};
  });
  REQUIRE_FALSE(applied.ok());
  CHECK(applied.error().code == Code::kInvalidInput);
  CHECK(site.row("node_admin", "n1").is_null());
}
