// What several steps need: their rows as typed values, the node's BMC opened with a credential that
// works, and waits that grow. Runs on a step's thread.
#pragma once

#include <memory>

#include "agent/engine/workflow.h"
#include "agent/private_rows.h"
#include "agent/tools.h"
#include "core/hardware_profile/hardware_profile.h"
#include "core/rows/pool_policy.h"
#include "core/rows/site_rows.h"
#include "drivers/bmc.h"

namespace leasehold {

Result<NodeRow> node_of(const StepContext& context);
// INTERNAL if the run's lease has no row.
Result<LeaseRow> lease_of(const StepContext& context);
// INVALID_CONFIG if the site was told no policy for the node's pool, or no such profile. From the
// opening of a pass's ramdisk on, the policy is the one of that moment: a new revision in the
// middle of a teardown is for the next one.
Result<Json> policy_row_of(const StepContext& context);
Result<PoolPolicy> policy_of(const StepContext& context);
Result<HardwareProfile> profile_of(const StepContext& context);

BmcAddress address_of(const NodeRow& node);

// The confirmed version, and the pending ones newest first: those that may have been taken, and
// those that the BMC refused. The superseded one opens the BMC only if it forgot a newer one.
struct Credentials {
  std::optional<VaultVersion> confirmed;
  std::vector<VaultVersion> pending;
  std::vector<VaultVersion> refused;
  std::optional<VaultVersion> superseded;

  size_t alive() const {
    return pending.size() + refused.size() + (confirmed ? 1 : 0) + (superseded ? 1 : 0);
  }
  // In the order in which they are tried: pending, confirmed, refused, superseded.
  std::vector<VaultVersion> in_order() const;
};
Result<Credentials> credentials_of(const StepContext& context);

// A password that a person gave and the BMC refused is not sent again by itself: it would lock the
// account (quirk A9). With one kept version: opened with that. With others beside it, each is tried
// once, in their order. CREDENTIAL_REFUSED if none opens it.
Result<std::unique_ptr<Bmc>> open_bmc(const Tools& tools, const StepContext& context);

// The same, kept from one Poll of this attempt to the next, so that a wait of milliseconds is not a
// login and a logout. Let go of by drop_kept_bmc, or by the engine at the attempt's end.
Result<std::shared_ptr<Bmc>> kept_bmc(const Tools& tools, StepContext& context);
void drop_kept_bmc(StepContext& context);

// 5 ms, doubling to two seconds, by how often this attempt has waited.
int64_t next_wait_ms(StepContext& context);

// Reaching the BMC failed: worth trying again, or the answer is final?
bool is_passing(const Error& error);

// The newest open ramdisk of this run and pass; INTERNAL if there is none.
Result<RamdiskRow> ramdisk_of(const StepContext& context);

// A fresh event row of this node.
RowChange event_of(const Tools& tools, const StepContext& context, const std::string& name,
                   Json fields);

}  // namespace leasehold
