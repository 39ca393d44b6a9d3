// The intake's part for machines that are enrolled at the site (docs/enrol.md): their rows and
// credentials enter here, through the local socket only, and their runs begin.
#include <map>
#include <optional>

#include "agent/hardware_history.h"
#include "agent/intake.h"
#include "agent/machine_words.h"
#include "agent/workflows/names.h"
#include "core/hardware_profile/hardware_profile.h"
#include "core/rows/field.h"
#include "core/rows/pool_policy.h"

namespace leasehold {
namespace {

// One machine as it was asked for.
struct Enrolment {
  NodeId node;  // empty: the site mints one
  PoolId pool;
  BmcAddress bmc;
  BmcCredential credential;
  std::string boot_mac;
};

Result<BmcAddress> address_in(const Json& bmc) {
  BmcAddress address;
  std::string url = TRY(json_string(bmc, "url"));
  address.url = TRY(in_field("url", normal_bmc_url(url)));
  std::string pin = TRY(json_string_or(bmc, "tlsPin", ""));
  if (!pin.empty()) address.tls_pin = TRY(in_field("tlsPin", normal_tls_pin(pin)));
  return address;
}

Result<BmcCredential> credential_in(const Json& bmc) {
  BmcCredential credential;
  credential.user = TRY(json_string(bmc, "user"));
  credential.password = TRY(json_string(bmc, "password"));
  if (credential.user.empty()) return Error(Code::kInvalidInput, "it must be a name", "user");
  if (credential.password.empty()) {
    return Error(Code::kInvalidInput, "the password is empty", "password");
  }
  return credential;
}

Result<Enrolment> parse_enrolment(const Json& json) {
  TRY(check_keys(json, {"node", "pool", "bmc", "bootMac"}, "an enrolment"));
  Json bmc = TRY(json_object(json, "bmc"));
  TRY(in_field("bmc", check_keys(bmc, {"url", "user", "password", "tlsPin"}, "bmc")));
  Enrolment enrolment;
  std::string name = TRY(json_string_or(json, "node", ""));
  if (!name.empty()) enrolment.node = TRY(NodeId::parse(name, "node"));
  std::string pool = TRY(json_string(json, "pool"));
  enrolment.pool = TRY(PoolId::parse(pool, "pool"));
  enrolment.bmc = TRY(in_field("bmc", address_in(bmc)));
  enrolment.credential = TRY(in_field("bmc", credential_in(bmc)));
  std::string mac = TRY(json_string_or(json, "bootMac", ""));
  if (!mac.empty()) enrolment.boot_mac = TRY(in_field("bootMac", normal_mac_of(mac)));
  return enrolment;
}

// The pool must be one that its machines can become ready in.
Status check_pool(Sql& sql, const PoolId& pool) {
  Json row = TRY(Store::get(sql, "pool_policy", pool.str()));
  if (row.is_null()) {
    return Error(Code::kNotFound, "this site was told no policy of pool " + pool.str(), "pool");
  }
  PoolPolicy policy = TRY(PoolPolicy::parse(row));
  if (policy.agent != PoolAgent::kRamdisk) {
    return Error(
        Code::kUnsupported,
        "machines of pool " + pool.str() + " have no agent; this agent enrols none of them",
        "pool");
  }
  Json profile = TRY(Store::get(sql, "hardware_profile", policy.hardware_profile));
  if (!profile.is_null()) return {};
  return Error(Code::kNotFound,
               "this site was told no hardware profile \"" + policy.hardware_profile +
                   "\", which pool " + pool.str() + " names",
               "pool");
}

// Two nodes behind one BMC or one MAC: an enrolment of one would wipe the other.
Status check_addresses(Sql& sql, const Enrolment& wanted, const NodeId& self) {
  NodeId bmc = TRY(owner_of_bmc(sql, wanted.bmc.url));
  if (!bmc.empty() && bmc != self) {
    return Error(Code::kConflict, "node " + bmc.str() + " has this BMC already", "bmc.url");
  }
  if (wanted.boot_mac.empty()) return {};
  NodeId mac = TRY(owner_of_mac(sql, wanted.boot_mac));
  if (mac.empty() || mac == self) return {};
  return Error(Code::kConflict, "node " + mac.str() + " has this MAC already", "bootMac");
}

// What the vault holds of the node, and the number that comes next.
struct Kept {
  std::vector<VaultVersion> alive;  // without the superseded one
  std::optional<VaultVersion> superseded;
  int64_t next_number = 1;
};
Result<Kept> kept_of(Sql& sql, const NodeId& node) {
  Kept kept;
  for (const Json& row : TRY(Store::of_node(sql, "vault", node))) {
    VaultVersion version = TRY(VaultVersion::parse(row));
    kept.next_number = std::max(kept.next_number, version.number + 1);
    if (version.state == VersionState::kSuperseded) kept.superseded = version;
    bool may_open =
        version.state == VersionState::kPending || version.state == VersionState::kConfirmed;
    if (may_open) kept.alive.push_back(std::move(version));
  }
  return kept;
}

// Law credential-kept: a password that was given and refused makes room for the next one; one that
// may open the BMC stays, and the new one is tried beside it. A third is left for the rotation, so
// that the superseded one goes: whoever gives a password knows better than a memory of two ago.
Status give_credential(Sql& sql, const Vault& vault, const NodeRow& node,
                       const std::string& password) {
  Kept kept = TRY(kept_of(sql, node.id));
  const VaultVersion* proven = nullptr;
  std::vector<VaultVersion> dying;
  if (kept.superseded) dying.push_back(*kept.superseded);
  for (const VaultVersion& version : kept.alive) {
    if (!version.run.empty() || !version.refused) {
      proven = &version;
    } else {
      dying.push_back(version);
    }
  }
  for (VaultVersion& dead : dying) {
    dead.state = VersionState::kDead;
    dead.sealed.clear();
    TRY(Store::put(sql, dead.change()));
  }
  if (proven != nullptr && kept.alive.size() > 1) {
    return Error(Code::kConflict,
                 "the vault holds passwords that may open this BMC: recover the node, which tries "
                 "each",
                 "bmc.password");
  }
  if (proven != nullptr && proven->account != node.bmc_user) {
    return Error(Code::kConflict, "the vault's password is of user " + proven->account, "bmc.user");
  }
  if (proven != nullptr && proven->bmc_url != node.bmc_url) {
    return Error(Code::kConflict, "the vault's password is of the BMC at " + proven->bmc_url,
                 "bmc.url");
  }
  VaultVersion version = vault.version_for(node, kept.next_number, password);
  if (proven == nullptr) version.state = VersionState::kConfirmed;
  return Store::put(sql, version.change());
}

NodeRow new_node(const Enrolment& wanted, const NodeId& id, const std::string& site) {
  NodeRow node;
  node.id = id;
  node.site = site;
  node.pool = wanted.pool;
  node.state = NodeState::kEnrolling;
  node.trust = Trust::kPlatform;
  node.generation = 1;
  return node;
}

// What people say of a machine replaces what they said before. A certificate that was seen at this
// address stays the one, unless a person says another.
void address(NodeRow& node, const Enrolment& wanted) {
  bool moved = node.bmc_url != wanted.bmc.url;
  node.pool = wanted.pool;
  node.bmc_url = wanted.bmc.url;
  node.bmc_user = wanted.credential.user;
  node.boot_mac = wanted.boot_mac;
  if (!moved && wanted.bmc.tls_pin.empty()) return;
  node.bmc_tls_pin = wanted.bmc.tls_pin;
  node.bmc_tls_pin_from = wanted.bmc.tls_pin.empty() ? "" : "given";
}

}  // namespace

Result<EnrolOutcome> Intake::enrol(Sql& sql, const Json& list) {
  if (!list.is_array() || list.empty()) {
    return Error(Code::kInvalidInput, "it must be a list of machines, and not an empty one",
                 "enrolments");
  }
  EnrolOutcome outcome;
  for (size_t i = 0; i < list.size(); ++i) {
    std::string field = "enrolments[" + std::to_string(i) + "]";
    NodeId node;
    RunId run = TRY(in_field(field, enrol_one(sql, list[i], node)));
    outcome.enrolments.push_back(Json{{"node", node.str()}, {"run", run.str()}});
    outcome.to_launch.push_back(run);
  }
  return outcome;
}

Result<RunId> Intake::enrol_one(Sql& sql, const Json& enrolment, NodeId& id) {
  Enrolment wanted = TRY(parse_enrolment(enrolment));
  TRY(check_pool(sql, wanted.pool));
  id = wanted.node.empty() ? NodeId(random_id(*tools_.random, "n")) : wanted.node;
  TRY(check_addresses(sql, wanted, id));
  Json known = TRY(Store::get(sql, "node", id.str()));
  WorkRow nobody_asked;
  if (known.is_null()) {
    NodeRow node = new_node(wanted, id, tools_.identity->site);
    address(node, wanted);
    TRY(Store::put(sql, node.change()));
    TRY(give_credential(sql, *tools_.vault, node, wanted.credential.password));
    TRY(event(sql, "node.enrolling", node, Json{{"pool", node.pool.str()}}));
    return begin(sql, nobody_asked, node, kEnrolWorkflow);
  }
  NodeRow node = TRY(NodeRow::parse(known));
  if (node.state != NodeState::kFailed || node.failed_from != "enrolling" || node.tenant_root) {
    return Error(Code::kConflict,
                 "node " + id.str() + " is known already, and " +
                     std::string(node_state_name(node.state)) +
                     "; only a failed enrolment is asked for again",
                 "node");
  }
  address(node, wanted);
  TRY(give_credential(sql, *tools_.vault, node, wanted.credential.password));
  return enrol_again(sql, nobody_asked, node);
}

// Of a machine that was never leased nothing is remembered: a part that was exchanged is no loss.
Result<RunId> Intake::enrol_again(Sql& sql, const WorkRow& work, NodeRow node) {
  bool leased = !TRY(Store::of_node(sql, "lease", node.id)).empty();
  NodeRow before = node;
  node.state = NodeState::kEnrolling;
  node.clean_run.clear();
  if (node.failed_from == "enrolling" && !leased) {
    node.disks = node.gpus = Json::array();
    node.hardware_key.clear();
    node.inventory = node.claims = Json();
  }
  // Before the run begins: what is refused here leaves nothing behind.
  TRY(note_hardware(sql, &before, node));
  RunId run = TRY(begin(sql, work, node, kEnrolWorkflow));
  TRY(Store::put(sql, node.change()));
  TRY(event(sql, "node.recovering", node, Json{{"from", node.failed_from}}));
  return run;
}

}  // namespace leasehold
