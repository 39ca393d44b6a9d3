#include "agent/laws.h"

#include <algorithm>
#include <vector>

namespace leasehold {
namespace {

using enum NodeState;

struct Moves {
  NodeState from;
  std::vector<NodeState> to;
};

const std::vector<Moves>& allowed_moves() {
  static const std::vector<Moves> kMoves = {
      {kEnrolling, {kReady, kFailed}},
      {kReady, {kDeploying, kFailed, kRetired}},
      {kDeploying, {kDeployed, kReleasing, kFailed}},
      {kDeployed, {kReleasing}},
      {kReleasing, {kReady, kFailed}},
      {kFailed, {kReleasing, kEnrolling, kRetired}},
      {kRetired, {kEnrolling}},
  };
  return kMoves;
}

Error broken(const std::string& law, const std::string& how) {
  return Error(Code::kInternal, "law " + law + ": " + how);
}

Status check_trust_return(const NodeRow& before, const NodeRow& after) {
  if (after.generation != before.generation + 1) {
    return broken("generation-rises", "leaving a lease raises the generation by one");
  }
  if (after.tenant_root || !after.lease.empty()) {
    return broken("trust-first", "trust returns only together with the cleared lease");
  }
  if (before.state != kReleasing || before.fenced_run.empty()) {
    return broken("trust-first", "trust returns only in a release that fenced its tenant");
  }
  if (after.clean_run.empty() || after.clean_run != before.fenced_run) {
    return broken("trust-first", "trust returns only behind the evidence of that release");
  }
  return {};
}

// What a tenant has is taken from it by a trust return alone.
Status check_kept_lease(const NodeRow& before, const NodeRow& after) {
  if (before.tenant_root && !after.tenant_root) {
    return broken("trust-first", "tenant_root is cleared only together with the trust");
  }
  if (before.lease != after.lease) {
    return broken("trust-first", "the lease is cleared only together with the trust");
  }
  return {};
}

Status check_trust_and_generation(const NodeRow& before, const NodeRow& after) {
  bool was_tenants = before.trust == Trust::kTenantControlled;
  bool is_tenants = after.trust == Trust::kTenantControlled;
  if (after.generation < before.generation) {
    return broken("generation-rises", "a generation never falls");
  }
  if (was_tenants && !is_tenants) return check_trust_return(before, after);
  if (!was_tenants && is_tenants) {
    if (after.generation == before.generation + 1) return {};
    return broken("generation-rises", "entering a lease raises the generation by one");
  }
  // A restored database jumps over whatever was used since its backup (agent/sync/restore).
  int64_t risen = after.generation - before.generation;
  if (risen != 0 && risen != limits::kGenerationJump) {
    return broken("generation-rises", "a generation rises where a lease begins or ends");
  }
  return was_tenants ? check_kept_lease(before, after) : Status();
}

// Off was read since, and the row says when: nothing else pays the debt.
Status check_power_debt(const NodeRow& before, const NodeRow& after) {
  if (!before.power_off_owed || after.power_off_owed) return {};
  if (!after.off_read_at.empty() && after.off_read_at != before.off_read_at) return {};
  return broken("fail-closed", "an owed power-off is paid by reading Off, and by nothing else");
}

Status check_ready(const NodeRow& after) {
  if (after.trust != Trust::kPlatform || after.tenant_root || !after.lease.empty()) {
    return broken("no-dirty-ready", "ready needs platform trust and no lease");
  }
  if (after.clean_run.empty() || after.power_off_owed) {
    return broken("no-dirty-ready", "ready needs a verified run and no owed power-off");
  }
  return {};
}

Status check_failed(const NodeRow& before, const NodeRow& after) {
  if (!after.maintenance || after.failed_from.empty()) {
    return broken("fail-closed", "a failed node is in maintenance and says where it failed");
  }
  if (before.trust != after.trust || before.tenant_root != after.tenant_root) {
    return broken("fail-closed", "a failure changes neither trust nor tenant_root");
  }
  // A machine that turned out to be another node's is none of this one's to switch off.
  bool anothers = before.state == kEnrolling &&
                  json_text(after.failure, "code") == code_name(Code::kMachineKnown);
  if (before.state != kReady && !after.power_off_owed && !anothers) {
    return broken("fail-closed", "a failed run owes power-off");
  }
  return {};
}

Status check_enrolling(const NodeRow& after) {
  if (after.trust != Trust::kPlatform || after.tenant_root || !after.lease.empty()) {
    return broken("trust-first", "an enrolment never takes a machine from its tenant");
  }
  if (!after.clean_run.empty()) {
    return broken("no-dirty-ready", "an enrolment begins without evidence");
  }
  return {};
}

// A machine that somebody has had, or one that is being enrolled: never ready at birth.
Status check_birth(const NodeRow& after) {
  if (after.state == kEnrolling) return check_enrolling(after);
  bool leased = after.state == kDeployed && after.trust == Trust::kTenantControlled &&
                after.tenant_root && !after.lease.empty();
  if (leased) return {};
  return broken("no-dirty-ready", "a new node is enrolling or somebody's");
}

// Which run showed the machine clean is said by that run, while it has the machine.
Status check_clean_run(const NodeRow& before, const NodeRow& after) {
  if (after.clean_run == before.clean_run || after.clean_run.empty()) return {};
  if (before.state == kEnrolling || before.state == kReleasing) return {};
  return broken("no-dirty-ready", "only an enrolment or a release brings evidence");
}

}  // namespace

bool may_move(NodeState from, NodeState to) {
  for (const Moves& moves : allowed_moves()) {
    if (moves.from == from) {
      return std::find(moves.to.begin(), moves.to.end(), to) != moves.to.end();
    }
  }
  return false;
}

Status check_node_change(const NodeRow* before, const NodeRow& after) {
  if (before == nullptr) return check_birth(after);
  if (before->state != after.state && !may_move(before->state, after.state)) {
    return broken("state table", std::string(node_state_name(before->state)) + " to " +
                                     std::string(node_state_name(after.state)));
  }
  TRY(check_trust_and_generation(*before, after));
  TRY(check_power_debt(*before, after));
  TRY(check_clean_run(*before, after));
  if (before->state != after.state && after.state == kEnrolling) TRY(check_enrolling(after));
  if (before->state != after.state && after.state == kReady) TRY(check_ready(after));
  if (before->state != after.state && after.state == kFailed) TRY(check_failed(*before, after));
  return {};
}

namespace {

// The one that opens the BMC dies only when another takes its place, or if a person gave it and the
// BMC never took it.
Status check_confirmed_end(const VaultVersion& before, const VaultVersion& after,
                           bool another_may_open) {
  if (before.state != VersionState::kConfirmed || after.state == VersionState::kConfirmed)
    return {};
  bool never_opened = before.run.empty() && before.refused;
  if (after.state == VersionState::kSuperseded && another_may_open) return {};
  if (after.state == VersionState::kDead && (another_may_open || never_opened)) return {};
  return broken("credential-kept", "the confirmed version dies only when another takes its place");
}

}  // namespace

Status check_vault_change(const std::vector<VaultVersion>& others, const VaultVersion& after) {
  int alive = after.state == VersionState::kDead ? 0 : 1;
  bool another_may_open = false;
  const VaultVersion* before = nullptr;
  for (const VaultVersion& other : others) {
    if (other.version_key == after.version_key) before = &other;
    if (other.version_key == after.version_key || other.state == VersionState::kDead) continue;
    if (other.account != after.account || other.protocol != after.protocol) continue;
    ++alive;
    bool superseded = other.state == VersionState::kSuperseded;
    another_may_open = another_may_open || (!other.refused && !other.sealed.empty() && !superseded);
    if (superseded && after.state == VersionState::kSuperseded) {
      return broken("credential-kept", "one superseded version at a time");
    }
    if (other.state == VersionState::kConfirmed && after.state == VersionState::kConfirmed) {
      return broken("credential-kept", "one confirmed version at a time");
    }
  }
  if (before != nullptr) TRY(check_confirmed_end(*before, after, another_may_open));
  if (alive > limits::kVaultVersionsAlive) {
    return broken("credential-kept", "three versions at most are kept alive");
  }
  if (after.state != VersionState::kDead && after.sealed.empty()) {
    return broken("credential-kept", "a version that is alive has its secret");
  }
  return {};
}

Status check_lease_change(const LeaseRow* before, const LeaseRow& after) {
  if (before == nullptr) return {};
  if (before->node != after.node)
    return broken("no-double-booking", "a lease never moves to another node");
  if (before->exit_generation != 0 && before->exit_generation != after.exit_generation) {
    return broken("generation-rises", "a lease is left once");
  }
  return {};
}

}  // namespace leasehold
