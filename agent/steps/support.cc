#include "agent/steps/support.h"

#include "agent/workflows/names.h"

#include <algorithm>

namespace leasehold {
namespace {

constexpr int64_t kFirstWaitMs = 5;
constexpr int64_t kLongestWaitMs = 2'000;

Error unreadable(const std::string& table, const Error& error) {
  return Error(Code::kInternal, "table " + table + ": " + error.message);
}

}  // namespace

Result<NodeRow> node_of(const StepContext& context) {
  Result<NodeRow> node = NodeRow::parse(context.rows->get("node", context.run.node.str()));
  if (!node.ok()) return unreadable("node", node.error());
  return node;
}

Result<LeaseRow> lease_of(const StepContext& context) {
  Result<LeaseRow> lease = LeaseRow::parse(context.rows->get("lease", context.run.lease.str()));
  if (!lease.ok()) return unreadable("lease", lease.error());
  return lease;
}

Result<Json> policy_row_of(const StepContext& context) {
  NodeRow node = TRY(node_of(context));
  const Json& pinned = json_member(context.output(kRamdiskOpenPlace), "policy");
  if (pinned.is_object()) return pinned;
  const Json& row = context.rows->get("pool_policy", node.pool.str());
  if (!row.is_null()) return row;
  return Error(Code::kInvalidConfig, "this site was told no policy of pool " + node.pool.str());
}

Result<PoolPolicy> policy_of(const StepContext& context) {
  Result<PoolPolicy> policy = PoolPolicy::parse(TRY(policy_row_of(context)));
  if (!policy.ok()) {
    return Error(Code::kInvalidConfig, "the pool's policy: " + policy.error().message);
  }
  return policy;
}

Result<HardwareProfile> profile_of(const StepContext& context) {
  PoolPolicy policy = TRY(policy_of(context));
  const Json& row = context.rows->get("hardware_profile", policy.hardware_profile);
  if (row.is_null()) {
    return Error(Code::kInvalidConfig,
                 "this site was told no hardware profile \"" + policy.hardware_profile + "\"");
  }
  Result<HardwareProfile> profile = HardwareProfile::parse(row);
  if (!profile.ok()) {
    return Error(Code::kInvalidConfig,
                 "hardware profile " + policy.hardware_profile + ": " + profile.error().message);
  }
  return profile;
}

BmcAddress address_of(const NodeRow& node) { return BmcAddress{node.bmc_url, node.bmc_tls_pin}; }

std::vector<VaultVersion> Credentials::in_order() const {
  std::vector<VaultVersion> all = pending;
  if (confirmed) all.push_back(*confirmed);
  all.insert(all.end(), refused.begin(), refused.end());
  if (superseded) all.push_back(*superseded);
  return all;
}

Result<Credentials> credentials_of(const StepContext& context) {
  Credentials found;
  for (VaultVersion& version : TRY(vault_versions(*context.rows))) {
    if (version.state == VersionState::kConfirmed) found.confirmed = version;
    if (version.state == VersionState::kSuperseded) found.superseded = version;
    if (version.state != VersionState::kPending) continue;
    (version.refused ? found.refused : found.pending).push_back(version);
  }
  auto newest_first = [](const VaultVersion& a, const VaultVersion& b) {
    return a.number > b.number;
  };
  std::sort(found.pending.begin(), found.pending.end(), newest_first);
  std::sort(found.refused.begin(), found.refused.end(), newest_first);
  if (!found.confirmed.has_value()) {
    return Error(Code::kInternal, "law credential-kept: the vault has no confirmed credential of " +
                                      context.run.node.str());
  }
  return found;
}

Result<std::unique_ptr<Bmc>> open_bmc(const Tools& tools, const StepContext& context) {
  NodeRow node = TRY(node_of(context));
  Credentials kept = TRY(credentials_of(context));
  BmcAddress address = address_of(node);
  std::vector<VaultVersion> candidates = kept.in_order();
  int64_t remembered = json_int_or(*context.memory, "credential", 0).value_or(0);
  auto given_and_refused = [](const VaultVersion& version) {
    return version.run.empty() && version.refused;
  };
  if (std::all_of(candidates.begin(), candidates.end(), given_and_refused)) {
    return Error(Code::kCredentialRefused, "the BMC of " + node.id.str() +
                                               " refused the password that was given; it is not " +
                                               "sent again: give another one");
  }
  for (const VaultVersion& version : candidates) {
    std::string password = TRY(tools.vault->password_of(version));
    BmcCredential credential{version.account, std::move(password)};
    std::unique_ptr<Bmc> bmc = tools.bmcs->open(address, credential);
    if (candidates.size() == 1) return bmc;
    // Found once, remembered for this attempt: each try of a wrong one counts towards a lockout.
    if (remembered == version.number) return bmc;
    if (remembered != 0 || !TRY(bmc->credential_works(credential))) continue;
    (*context.memory)["credential"] = version.number;
    return bmc;
  }
  return Error(Code::kCredentialRefused, "no kept credential opens the BMC of " + node.id.str());
}

Result<std::shared_ptr<Bmc>> kept_bmc(const Tools& tools, StepContext& context) {
  if (context.held != nullptr && *context.held != nullptr) {
    return std::static_pointer_cast<Bmc>(*context.held);
  }
  std::shared_ptr<Bmc> bmc = TRY(open_bmc(tools, context));
  if (context.held != nullptr) *context.held = bmc;
  return bmc;
}

void drop_kept_bmc(StepContext& context) {
  if (context.held != nullptr) context.held->reset();
}

int64_t next_wait_ms(StepContext& context) {
  int64_t waits = 0;
  if (context.memory->contains("waits")) waits = (*context.memory)["waits"].get<int64_t>();
  (*context.memory)["waits"] = waits + 1;
  return std::min(kLongestWaitMs, kFirstWaitMs << std::min<int64_t>(waits, 10));
}

bool is_passing(const Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kTimeout ||
         error.code == Code::kMalformed;
}

Result<RamdiskRow> ramdisk_of(const StepContext& context) {
  for (const RamdiskRow& ramdisk : TRY(ramdisks(*context.rows))) {
    if (ramdisk.run == context.run.id && ramdisk.pass == context.pass &&
        ramdisk.state != "closed") {
      if (ramdisk.state == "claimed-twice") {
        return Error(Code::kBootClaimedTwice, "boot " + ramdisk.boot + " was claimed twice");
      }
      return ramdisk;
    }
  }
  return Error(Code::kInternal, "this pass of the run has no open ramdisk");
}

RowChange event_of(const Tools& tools, const StepContext& context, const std::string& name,
                   Json fields) {
  fields["run"] = context.run.id.str();
  if (!context.run.lease.empty()) fields["lease"] = context.run.lease.str();
  return event_row(random_id(*tools.random, "e"), name, context.run.node, tools.clock->now_ms(),
                   std::move(fields));
}

}  // namespace leasehold
