// The laws (docs/laws.md) that show in a change of rows, by their names.
#include <catch2/catch.hpp>

#include "agent/intake.h"
#include "agent/laws.h"
#include "tests/unit/agent/door_site.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

NodeRow releasing() {
  NodeRow node;
  node.id = NodeId("n1");
  node.state = NodeState::kReleasing;
  node.trust = Trust::kTenantControlled;
  node.generation = 4;
  node.tenant_root = true;
  node.lease = LeaseId("l-1");
  node.fenced_run = "r-1";
  return node;
}

NodeRow exited() {
  NodeRow node = releasing();
  node.trust = Trust::kPlatform;
  node.generation = 5;
  node.tenant_root = false;
  node.lease = LeaseId();
  node.clean_run = "r-1";
  return node;
}

// The law that refuses the change, or "".
std::string law(const NodeRow& before, const NodeRow& after) {
  Status lawful = check_node_change(&before, after);
  if (lawful.ok()) return "";
  CHECK(lawful.error().code == Code::kInternal);
  std::string text = lawful.error().message;
  return text.substr(4, text.find(':') - 4);
}

}  // namespace

TEST_CASE("law no-dirty-ready: ready needs platform trust, an accepted run and no owed power-off") {
  NodeRow before = exited();
  NodeRow ready = before;
  ready.state = NodeState::kReady;
  CHECK(law(before, ready).empty());
  NodeRow unproven = ready;
  unproven.clean_run.clear();
  CHECK(law(before, unproven) == "no-dirty-ready");
  NodeRow owing = ready;
  owing.power_off_owed = true;
  CHECK(law(before, owing) == "no-dirty-ready");
  NodeRow tenants = releasing();
  NodeRow dirty = tenants;
  dirty.state = NodeState::kReady;
  CHECK(law(tenants, dirty) == "no-dirty-ready");
  NodeRow born = ready;
  CHECK_FALSE(check_node_change(nullptr, born).ok());
}

TEST_CASE("law trust-first: trust returns only from a release, with the lease cleared") {
  CHECK(law(releasing(), exited()).empty());
  NodeRow kept = exited();
  kept.lease = LeaseId("l-1");
  CHECK(law(releasing(), kept) == "trust-first");
  NodeRow root = exited();
  root.tenant_root = true;
  CHECK(law(releasing(), root) == "trust-first");
  NodeRow deployed = releasing();
  deployed.state = NodeState::kDeployed;
  NodeRow unfenced = releasing();
  unfenced.fenced_run.clear();
  CHECK(law(unfenced, exited()) == "trust-first");
  NodeRow unproven = exited();
  unproven.clean_run.clear();
  CHECK(law(releasing(), unproven) == "trust-first");
  NodeRow back = exited();
  back.state = NodeState::kDeployed;
  CHECK(law(deployed, back) == "trust-first");
}

TEST_CASE("law generation-rises: leaving a lease raises it once, and it never falls") {
  for (int64_t generation : {3, 4, 6}) {
    NodeRow after = exited();
    after.generation = generation;
    CHECK(law(releasing(), after) == "generation-rises");
  }
  LeaseRow left;
  left.id = LeaseId("l-1");
  left.exit_generation = 5;
  LeaseRow again = left;
  again.exit_generation = 6;
  CHECK_FALSE(check_lease_change(&left, again).ok());
}

TEST_CASE("law fail-closed: a failure keeps trust, is in maintenance and owes power-off") {
  NodeRow failed = releasing();
  failed.state = NodeState::kFailed;
  failed.failed_from = "releasing";
  failed.maintenance = true;
  failed.power_off_owed = true;
  CHECK(law(releasing(), failed).empty());
  NodeRow lifted = failed;
  lifted.maintenance = false;
  CHECK(law(releasing(), lifted) == "fail-closed");
  NodeRow free_of_debt = failed;
  free_of_debt.power_off_owed = false;
  CHECK(law(releasing(), free_of_debt) == "fail-closed");
  NodeRow forgiven = failed;
  forgiven.tenant_root = false;
  CHECK(law(releasing(), forgiven) == "trust-first");
}

TEST_CASE(
    "law trust-first: an enrolment never takes a machine from its tenant, at birth or later") {
  NodeRow born;
  born.id = NodeId("n1");
  born.trust = Trust::kPlatform;
  CHECK(check_node_change(nullptr, born).ok());
  NodeRow unknown = born;
  unknown.trust = Trust::kTenantControlled;
  CHECK_FALSE(check_node_change(nullptr, unknown).ok());
  NodeRow shown = born;
  shown.clean_run = "r-1";
  CHECK_FALSE(check_node_change(nullptr, shown).ok());
  NodeRow failed = releasing();
  failed.state = NodeState::kFailed;
  NodeRow taken = failed;
  taken.state = NodeState::kEnrolling;
  CHECK(law(failed, taken) == "trust-first");
  NodeRow quarantined = exited();
  quarantined.state = NodeState::kFailed;
  NodeRow again = quarantined;
  again.state = NodeState::kEnrolling;
  CHECK(law(quarantined, again) == "no-dirty-ready");
  again.clean_run.clear();
  CHECK(law(quarantined, again).empty());
}

TEST_CASE("law no-dirty-ready: only an enrolment or a release brings evidence") {
  NodeRow ready = exited();
  ready.state = NodeState::kReady;
  NodeRow other = ready;
  other.clean_run = "r-2";
  CHECK(law(ready, other) == "no-dirty-ready");
  NodeRow enrolling;
  enrolling.trust = Trust::kPlatform;
  NodeRow accepted = enrolling;
  accepted.clean_run = "r-2";
  CHECK(law(enrolling, accepted).empty());
}

TEST_CASE("law fail-closed: only a machine that is another node's is not switched off") {
  NodeRow enrolling;
  enrolling.trust = Trust::kPlatform;
  NodeRow failed = enrolling;
  failed.state = NodeState::kFailed;
  failed.failed_from = "enrolling";
  failed.maintenance = true;
  failed.failure = Json{{"code", "FIRMWARE_DRIFT"}};
  CHECK(law(enrolling, failed) == "fail-closed");
  failed.failure = Json{{"code", "MACHINE_KNOWN"}};
  CHECK(law(enrolling, failed).empty());
  NodeRow released = releasing();
  NodeRow known = released;
  known.state = NodeState::kFailed;
  known.failed_from = "releasing";
  known.maintenance = true;
  known.failure = failed.failure;
  CHECK(law(released, known) == "fail-closed");
}

TEST_CASE("law trust-first: what a tenant has is taken only together with the trust") {
  NodeRow kept = releasing();
  kept.maintenance = true;
  CHECK(law(releasing(), kept).empty());
  NodeRow rootless = releasing();
  rootless.tenant_root = false;
  CHECK(law(releasing(), rootless) == "trust-first");
  NodeRow unleased = releasing();
  unleased.lease = LeaseId();
  CHECK(law(releasing(), unleased) == "trust-first");
  NodeRow anothers = releasing();
  anothers.lease = LeaseId("l-2");
  CHECK(law(releasing(), anothers) == "trust-first");
}

TEST_CASE("law generation-rises: without a lease's begin or end only a restore's jump raises it") {
  for (const NodeRow& node : {releasing(), exited()}) {
    NodeRow same = node;
    same.maintenance = true;
    CHECK(law(node, same).empty());
    NodeRow restored = node;
    restored.generation += limits::kGenerationJump;
    CHECK(law(node, restored).empty());
    for (int64_t by :
         {int64_t{1}, int64_t{2}, limits::kGenerationJump - 1, limits::kGenerationJump + 1}) {
      NodeRow jumped = node;
      jumped.generation += by;
      CHECK(law(node, jumped) == "generation-rises");
    }
  }
}

TEST_CASE("law fail-closed: an owed power-off is dropped only with a reading of Off") {
  NodeRow owing = releasing();
  owing.state = NodeState::kFailed;
  owing.failed_from = "releasing";
  owing.maintenance = true;
  owing.power_off_owed = true;
  owing.off_read_at = "2026-01-01T00:00:00.000Z";
  NodeRow dropped = owing;
  dropped.power_off_owed = false;
  CHECK(law(owing, dropped) == "fail-closed");
  NodeRow vague = dropped;
  vague.off_read_at.clear();
  CHECK(law(owing, vague) == "fail-closed");
  NodeRow paid = dropped;
  paid.off_read_at = "2026-01-01T00:00:07.000Z";
  CHECK(law(owing, paid).empty());
}

TEST_CASE("law credential-kept: the confirmed version dies only when another takes its place") {
  VaultVersion confirmed;
  confirmed.version_key = "n1-redfish-1";
  confirmed.state = VersionState::kConfirmed;
  confirmed.sealed = "x";
  confirmed.run = "r-0";
  VaultVersion fresh = confirmed;
  fresh.version_key = "n1-redfish-2";
  fresh.state = VersionState::kPending;
  VaultVersion dead = confirmed;
  dead.state = VersionState::kDead;
  dead.sealed.clear();
  CHECK_FALSE(check_vault_change({confirmed}, dead).ok());
  CHECK(check_vault_change({confirmed, fresh}, dead).ok());
  VaultVersion demoted = confirmed;
  demoted.state = VersionState::kPending;
  CHECK_FALSE(check_vault_change({confirmed, fresh}, demoted).ok());
  fresh.refused = true;  // the BMC said no to it
  CHECK_FALSE(check_vault_change({confirmed, fresh}, dead).ok());
  fresh.refused = false;
  fresh.protocol = "ipmi";  // it opens something else
  CHECK_FALSE(check_vault_change({confirmed, fresh}, dead).ok());
  // A person gave it, and the BMC never took it.
  VaultVersion mistyped = confirmed;
  mistyped.run.clear();
  mistyped.refused = true;
  CHECK(check_vault_change({mistyped}, dead).ok());
}

TEST_CASE("law credential-kept: one superseded version at most, and it has its secret") {
  VaultVersion confirmed;
  confirmed.version_key = "n1-redfish-3";
  confirmed.state = VersionState::kConfirmed;
  confirmed.sealed = "x";
  VaultVersion last = confirmed;
  last.version_key = "n1-redfish-2";
  last.state = VersionState::kSuperseded;
  CHECK(check_vault_change({confirmed}, last).ok());
  VaultVersion another = last;
  another.version_key = "n1-redfish-1";
  CHECK_FALSE(check_vault_change({confirmed, last}, another).ok());
  last.sealed.clear();
  CHECK_FALSE(check_vault_change({confirmed}, last).ok());
}

TEST_CASE("the state table allows exactly the moves of the design") {
  using enum NodeState;
  const std::set<std::pair<NodeState, NodeState>> allowed = {
      {kEnrolling, kReady},     {kEnrolling, kFailed}, {kReady, kDeploying},
      {kReady, kFailed},        {kReady, kRetired},    {kDeploying, kDeployed},
      {kDeploying, kReleasing}, {kDeploying, kFailed}, {kDeployed, kReleasing},
      {kReleasing, kReady},     {kReleasing, kFailed}, {kFailed, kReleasing},
      {kFailed, kEnrolling},    {kFailed, kRetired},   {kRetired, kEnrolling}};
  for (int from = 0; from <= static_cast<int>(kRetired); ++from) {
    for (int to = 0; to <= static_cast<int>(kRetired); ++to) {
      auto move = std::pair(static_cast<NodeState>(from), static_cast<NodeState>(to));
      CHECK(may_move(move.first, move.second) == allowed.contains(move));
    }
  }
}

TEST_CASE("law no-dirty-ready: the store refuses what breaks a law, with the whole transaction") {
  DoorSite site;
  Status put = site.in([&](Sql& sql) -> Status {
    TRY(Store::put(sql, event_row("e-1", "node.failed", NodeId("n1"), 0, Json::object())));
    NodeRow node = TRY(Store::node(sql, NodeId("n1")));
    node.state = NodeState::kReady;
    return Store::put(sql, node.change());
  });
  REQUIRE_FALSE(put.ok());
  CHECK(put.error().code == Code::kInternal);
  CHECK(site.row("node", "n1")["state"] == "releasing");
  CHECK(site.row("event", "e-1").is_null());
}

TEST_CASE("law credential-kept: one confirmed version, three alive at most, none without secret") {
  VaultVersion confirmed;
  confirmed.version_key = "n1-redfish-1";
  confirmed.state = VersionState::kConfirmed;
  confirmed.sealed = "x";
  std::vector<VaultVersion> kept = {confirmed};
  auto pending = [](int64_t number) {
    VaultVersion version;
    version.version_key = "n1-redfish-" + std::to_string(number);
    version.number = number;
    version.sealed = "x";
    return version;
  };
  CHECK(check_vault_change(kept, pending(2)).ok());
  kept.push_back(pending(2));
  CHECK(check_vault_change(kept, pending(3)).ok());
  kept.push_back(pending(3));
  CHECK_FALSE(check_vault_change(kept, pending(4)).ok());
  VaultVersion second = pending(2);
  second.state = VersionState::kConfirmed;
  CHECK_FALSE(check_vault_change(kept, second).ok());
  VaultVersion empty = pending(3);
  empty.sealed.clear();
  CHECK_FALSE(check_vault_change(kept, empty).ok());
  empty.state = VersionState::kDead;
  CHECK(check_vault_change(kept, empty).ok());
}

TEST_CASE("law credential-kept: a sealed version is bound to its BMC, account, protocol, number") {
  SystemRandom random;
  TempFolder folder;
  REQUIRE(Vault::create_key_file(folder.file("key"), random).ok());
  CHECK(Vault::create_key_file(folder.file("key"), random).error().code == Code::kConflict);
  Vault vault = Vault::open(folder.file("key"), random).value();
  VaultVersion like;
  like.node = NodeId("n1");
  like.bmc_url = "https://bmc";
  like.account = "admin";
  like.protocol = "redfish";
  VaultVersion version = vault.new_version(like, 2, "the-password", "r-1");
  CHECK(vault.password_of(version).value() == "the-password");
  for (auto spoil :
       {+[](VaultVersion& v) { v.bmc_url = "https://other"; },
        +[](VaultVersion& v) { v.account = "root"; }, +[](VaultVersion& v) { v.protocol = "ipmi"; },
        +[](VaultVersion& v) { v.number = 3; }}) {
    VaultVersion moved = version;
    spoil(moved);
    CHECK_FALSE(vault.password_of(moved).ok());
  }
}

TEST_CASE("generated passwords fit every BMC's policy") {
  SystemRandom random;
  for (int i = 0; i < 200; ++i) {
    std::string password = generate_bmc_password(random);
    CHECK(password.size() == 16);
    CHECK(std::isalnum(static_cast<unsigned char>(password[0])));
    auto has = [&](auto test) {
      return std::any_of(password.begin(), password.end(),
                         [&](char c) { return test(static_cast<unsigned char>(c)) != 0; });
    };
    CHECK(has([](int c) { return std::isupper(c); }));
    CHECK(has([](int c) { return std::islower(c); }));
    CHECK(has([](int c) { return std::isdigit(c); }));
    CHECK(password.find_first_of("-_.+") != std::string::npos);
  }
}
