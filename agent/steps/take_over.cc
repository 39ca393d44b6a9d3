#include "agent/steps/take_over.h"

#include "agent/steps/rotate.h"
#include "agent/workflows/names.h"

namespace leasehold {
namespace {

using StepFunction = StepOutcome (*)(const Tools&, StepContext&);

StepOutcome unless_own(const Tools& tools, StepContext& context, StepFunction step) {
  Result<NodeRow> node = node_of(context);
  if (!node.ok()) return node.error();
  if (has_own_credential(node.value())) return nothing_to_take_over();
  return step(tools, context);
}

}  // namespace

bool has_own_credential(const NodeRow& node) {
  return node.failed_from == node_state_name(NodeState::kReady);
}

Done nothing_to_take_over() {
  return Done{Json{{"skipped", "the credential is the site's"}}, {}, {}};
}

StepOutcome take_over_seal(const Tools& tools, StepContext& context) {
  return unless_own(tools, context, rotate_seal);
}

StepOutcome take_over_apply(const Tools& tools, StepContext& context) {
  return unless_own(tools, context, rotate_apply);
}

StepOutcome take_over_sweep(const Tools& tools, StepContext& context) {
  return unless_own(tools, context, sweep_sessions);
}

std::vector<RowChange> refused_login_rows(const StepContext& context, Code code) {
  std::vector<RowChange> rows;
  if (code != Code::kCredentialRefused || context.place != kLookPlace) return rows;
  Result<std::vector<VaultVersion>> versions = vault_versions(*context.rows);
  if (!versions.ok()) return rows;
  for (VaultVersion& version : versions.value()) {
    bool given = version.run.empty() && version.state != VersionState::kDead;
    if (!given || version.refused) continue;
    version.refused = true;
    rows.push_back(version.change());
  }
  return rows;
}

}  // namespace leasehold
