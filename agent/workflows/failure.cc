#include "agent/workflows/failure.h"

#include "agent/steps/rotate.h"
#include "agent/steps/take_over.h"
#include "agent/workflows/names.h"
#include "core/base/log.h"

namespace leasehold {
namespace {

void close_ramdisks(const StepContext& context, Done& done) {
  Result<std::vector<RamdiskRow>> open = ramdisks(*context.rows);
  if (!open.ok()) return;
  for (RamdiskRow& ramdisk : open.value()) {
    if (ramdisk.state == "closed") continue;
    ramdisk.state = "closed";
    ramdisk.sealed_token.clear();
    done.rows.push_back(ramdisk.change());
  }
}

// A machine that turned out to be another node before this run switched anything: it may run that
// node's tenant, and is none of this node's business.
bool is_anothers(const StepContext& context, const Error& error) {
  return error.code == Code::kMachineKnown && context.output(kFirstOffPlace).is_null();
}

}  // namespace

Done failure_rows(const Tools& tools, const StepContext& context, const Error& error) {
  Done done;
  tools.chain->give_back(context.run.id);
  Result<NodeRow> loaded = node_of(context);
  // A node that cannot be read is not touched; the journal holds the failure all the same.
  if (!loaded.ok()) return done;
  NodeRow& node = loaded.value();
  if (node.state != NodeState::kFailed) node.failed_from = node_state_name(node.state);
  node.state = NodeState::kFailed;
  node.maintenance = true;
  if (!is_anothers(context, error)) node.power_off_owed = true;
  node.failure = Json{{"code", code_name(error.code)},
                      {"message", scrubbed(error.message)},
                      {"run", context.run.id.str()},
                      {"place", context.place},
                      {"at", format_time(tools.clock->now_ms())}};
  done.rows.push_back(node.change());
  for (auto* rows_of : {&rotation_failure_rows, &refused_login_rows}) {
    for (RowChange& change : rows_of(context, error.code)) done.rows.push_back(std::move(change));
  }
  close_ramdisks(context, done);
  done.rows.push_back(
      event_of(tools, context, "node.failed",
               Json{{"code", code_name(error.code)}, {"failedFrom", node.failed_from}}));
  done.notices.push_back(Json{{"type", "close-node"}, {"node", node.id.str()}});
  return done;
}

}  // namespace leasehold
