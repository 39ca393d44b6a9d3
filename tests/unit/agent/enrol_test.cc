// Where an enrolment begins and begins again: the intake of machines with their credentials, and
// the works that lead there (recover, inspect).
#include <catch2/catch.hpp>

#include "agent/steps/take_over.h"
#include "tests/unit/agent/enrolling_site.h"

using namespace leasehold;
using namespace leasehold::test;

TEST_CASE("enrolment: machines, their credentials and their runs begin together or not at all") {
  Enrolling site;
  Result<EnrolOutcome> outcome = site.enrol(
      Json::array({machine("a1", "https://10.0.0.8"), machine("", "https://10.0.0.9:8443/")}));
  INFO((outcome.ok() ? "" : outcome.error().text()));
  REQUIRE(outcome.ok());
  REQUIRE(outcome.value().to_launch.size() == 2);
  NodeRow node = site.node("a1");
  CHECK(node.state == NodeState::kEnrolling);
  CHECK(node.trust == Trust::kPlatform);
  CHECK(node.generation == 1);
  CHECK(node.bmc_user == "root");
  CHECK(node.bmc_tls_pin == "");
  std::vector<VaultVersion> versions = site.vault("a1");
  REQUIRE(versions.size() == 1);
  CHECK(versions[0].state == VersionState::kConfirmed);
  CHECK(site.password(versions[0]) == "box-1");
  std::string minted = outcome.value().enrolments[1]["node"];
  CHECK(site.node(minted).bmc_url == "https://10.0.0.9:8443");
  CHECK(site.workflow_of(outcome.value().enrolments[0]["run"]) == kEnrolWorkflow);

  Json unknown_pool = machine("b2", "https://10.0.0.11");
  unknown_pool["pool"] = "other";
  Result<EnrolOutcome> half =
      site.enrol(Json::array({machine("b1", "https://10.0.0.10"), unknown_pool}));
  REQUIRE_FALSE(half.ok());
  CHECK(half.error().code == Code::kNotFound);
  CHECK(half.error().field == "enrolments[1].pool");
  CHECK_FALSE(site.in([](Sql& sql) -> Status {
                    TRY(Store::node(sql, NodeId("b1")));
                    return {};
                  })
                  .ok());
}

TEST_CASE("enrolment: one BMC and one MAC are one node's") {
  Enrolling site;
  auto field = [&](const Json& wanted) {
    Result<EnrolOutcome> outcome = site.enrol(Json::array({wanted}));
    return outcome.ok() ? "accepted" : outcome.error().field;
  };
  CHECK(field(machine("a1", "https://bmc.example.net/")) == "enrolments[0].bmc.url");
  Json mac = machine("a1", "https://10.0.0.8");
  mac["bootMac"] = "52:54:00:77:00:10";
  CHECK(field(mac) == "enrolments[0].bootMac");
  CHECK(field(machine("n1", "https://10.0.0.8")) == "enrolments[0].node");
  Json password = machine("a1", "https://10.0.0.8", "");
  CHECK(field(password) == "enrolments[0].bmc.password");
  Json spelled = machine("a1", "https://10.0.0.8");
  spelled["bmcc"] = 1;
  CHECK(field(spelled) == "enrolments[0].bmcc");
}

TEST_CASE("law credential-kept: a given password that was refused makes room for the next one") {
  Enrolling site;
  failed_enrolment(site, "a1");
  VaultVersion refused = site.vault("a1")[0];
  refused.refused = true;
  site.set(refused.change());
  REQUIRE(site.enrol(Json::array({machine("a1", "https://10.0.0.8", "right-2")})).ok());
  std::vector<VaultVersion> versions = site.vault("a1");
  REQUIRE(versions.size() == 2);
  CHECK(versions[0].state == VersionState::kDead);
  CHECK(versions[0].sealed == "");
  CHECK(versions[1].state == VersionState::kConfirmed);
  CHECK(site.password(versions[1]) == "right-2");
  // Never leased: what it showed is asked again.
  CHECK(site.node("a1").disks.empty());
  CHECK(site.node("a1").failed_from == "enrolling");
}

TEST_CASE("law credential-kept: one that may open the BMC stays, and others are tried beside it") {
  Enrolling site;
  failed_enrolment(site, "a1");
  REQUIRE(site.enrol(Json::array({machine("a1", "https://10.0.0.8", "second-2")})).ok());
  std::vector<VaultVersion> versions = site.vault("a1");
  REQUIRE(versions.size() == 2);
  CHECK(versions[0].state == VersionState::kConfirmed);
  CHECK(site.password(versions[0]) == "box-1");
  CHECK(versions[1].state == VersionState::kPending);
  CHECK(site.password(versions[1]) == "second-2");
}

TEST_CASE("a credential of another BMC or user is not tried on this one") {
  Enrolling site;
  failed_enrolment(site, "a1");
  Result<EnrolOutcome> moved = site.enrol(Json::array({machine("a1", "https://10.0.0.99")}));
  REQUIRE_FALSE(moved.ok());
  CHECK(moved.error().field == "enrolments[0].bmc.url");
  Json user = machine("a1", "https://10.0.0.8");
  user["bmc"]["user"] = "other";
  Result<EnrolOutcome> others = site.enrol(Json::array({user}));
  REQUIRE_FALSE(others.ok());
  CHECK(others.error().field == "enrolments[0].bmc.user");
}

TEST_CASE("a login that was refused marks what a person gave, and nothing else") {
  auto rows_for = [](const char* place, Code code, const char* run) {
    auto snapshot = std::make_shared<Snapshot>();
    VaultVersion version;
    version.version_key = "n1-redfish-1";
    version.node = NodeId("n1");
    version.state = VersionState::kConfirmed;
    version.sealed = "x";
    version.run = run;
    snapshot->put("vault", version.version_key, version.change().row);
    StepContext context;
    context.rows = snapshot;
    context.place = place;
    return refused_login_rows(context, code).size();
  };
  CHECK(rows_for(kLookPlace, Code::kCredentialRefused, "") == 1);
  CHECK(rows_for(kLookPlace, Code::kCredentialRefused, "r-1") == 0);
  CHECK(rows_for(kLookPlace, Code::kBmcUnreachable, "") == 0);
  CHECK(rows_for("bmc.probe", Code::kCredentialRefused, "") == 0);
}

TEST_CASE("recover: a machine that failed while ready is enrolled anew, with its manifest") {
  Enrolling site;
  NodeRow node = site.node("n1");
  node.state = NodeState::kFailed;
  node.failed_from = "ready";
  node.maintenance = true;
  node.power_off_owed = true;
  node.trust = Trust::kPlatform;
  node.tenant_root = false;
  node.lease = LeaseId();
  node.clean_run = "r-0";
  site.set(node.change());
  Json answer = site.work("n1", "recover");
  INFO(dump_json(answer));
  REQUIRE(answer["accepted"] == true);
  CHECK(site.workflow_of(answer["run"]) == kEnrolWorkflow);
  NodeRow begun = site.node("n1");
  CHECK(begun.state == NodeState::kEnrolling);
  CHECK(begun.clean_run == "");
  CHECK(begun.disks == make_manifest().to_json());
  CHECK(has_own_credential(begun));
}

TEST_CASE("recover: a tenant's machine is released, whatever it failed from") {
  Enrolling site;
  NodeRow node = site.node("n1");
  node.state = NodeState::kFailed;
  node.failed_from = "enrolling";
  node.maintenance = true;
  node.power_off_owed = true;
  site.set(node.change());
  Json answer = site.work("n1", "recover");
  REQUIRE(answer["accepted"] == true);
  CHECK(site.workflow_of(answer["run"]) == kReleaseWorkflow);
  CHECK(site.enrol(Json::array({machine("n1", "https://bmc.example.net")})).error().field ==
        "enrolments[0].node");
}

TEST_CASE("inspect: only a ready machine that is not in maintenance, one run at a time") {
  Enrolling site;
  CHECK(site.work("n1", "inspect")["code"] == "CONFLICT");
  NodeRow node = site.node("n1");
  node.state = NodeState::kReady;
  node.trust = Trust::kPlatform;
  node.tenant_root = false;
  node.lease = LeaseId();
  node.clean_run = "r-0";
  node.maintenance = true;
  site.set(node.change());
  CHECK(site.work("n1", "inspect")["code"] == "CONFLICT");
  node.maintenance = false;
  site.set(node.change());
  Json answer = site.work("n1", "inspect");
  REQUIRE(answer["accepted"] == true);
  CHECK(site.workflow_of(answer["run"]) == kInspectWorkflow);
  CHECK(site.node("n1").state == NodeState::kReady);
  CHECK(site.work("n1", "inspect")["code"] == "CONFLICT");
}
