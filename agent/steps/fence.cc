#include "agent/steps/fence.h"

namespace leasehold {

StepOutcome fence_tenant(const Tools& tools, StepContext& context) {
  Result<NodeRow> node = node_of(context);
  if (!node.ok()) return node.error();
  STEP_CHECK(node.value().state == NodeState::kReleasing, "only a releasing node is fenced");
  STEP_CHECK(node.value().trust == Trust::kTenantControlled, "only a tenant is fenced");
  Done done;
  node.value().fenced_run = context.run.id.str();
  node.value().clean_run.clear();  // whatever was shown before this tenant shows nothing now
  done.rows.push_back(node.value().change());
  Result<std::vector<RamdiskRow>> open = ramdisks(*context.rows);
  if (!open.ok()) return open.error();
  for (RamdiskRow& ramdisk : open.value()) {
    if (ramdisk.state == "closed") continue;
    ramdisk.state = "closed";
    ramdisk.sealed_token.clear();
    done.rows.push_back(ramdisk.change());
  }
  done.rows.push_back(event_of(tools, context, "node.tenant-root.fenced",
                               Json{{"generation", node.value().generation}}));
  done.output = Json{{"generation", node.value().generation}};
  done.notices.push_back(Json{{"type", "close-node"}, {"node", context.run.node.str()}});
  return done;
}

}  // namespace leasehold
