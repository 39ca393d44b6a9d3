#include "agent/steps/inspect.h"

#include "agent/workflows/names.h"

namespace leasehold {

StepOutcome record_inspection(const Tools&, StepContext& context) {
  Result<NodeRow> node = node_of(context);
  if (!node.ok()) return node.error();
  if (node.value().state != NodeState::kReady) {
    return Error(Code::kStopped, "the node was taken out of use during its inspection");
  }
  Result<RamdiskRow> ramdisk = ramdisk_of(context);
  if (!ramdisk.ok()) return ramdisk.error();
  node.value().inventory = json_member(context.output(kInventoryPlace), "inventory");
  ramdisk.value().state = "closed";
  ramdisk.value().sealed_token.clear();
  Done done;
  done.rows = {node.value().change(), ramdisk.value().change()};
  done.output = Json{{"diagnosis", json_member(context.output("diag.dcgm"), "digest")}};
  done.notices.push_back(Json{{"type", "close-node"}, {"node", context.run.node.str()}});
  return done;
}

Result<Done> inspected_rows(const Tools& tools, StepContext& context) {
  NodeRow node = TRY(node_of(context));
  if (node.state != NodeState::kReady) {
    return Error(Code::kStopped, "the node was taken out of use during its inspection");
  }
  RowChange told = event_of(tools, context, "node.inspected",
                            Json{{"generation", node.generation}, {"evidence", node.clean_run}});
  return Done{Json::object(), {std::move(told)}, {}};
}

}  // namespace leasehold
