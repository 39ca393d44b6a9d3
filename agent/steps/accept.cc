#include "agent/steps/accept.h"

#include "agent/steps/evidence.h"
#include "agent/steps/ramdisk.h"

namespace leasehold {

StepOutcome accept_machine(const Tools& tools, StepContext& context) {
  Result<NodeRow> loaded = node_of(context);
  if (!loaded.ok()) return loaded.error();
  Result<std::vector<ResultRow>> rows = results(*context.rows);
  if (!rows.ok()) return rows.error();
  NodeRow& node = loaded.value();
  STEP_CHECK(node.state == NodeState::kEnrolling, "no-dirty-ready: accepted while enrolling");
  STEP_CHECK(node.trust == Trust::kPlatform && !node.tenant_root && node.lease.empty(),
             "trust-first: an enrolment never takes a machine from its tenant");
  STEP_CHECK(node.generation == context.run.generation, "generation-rises: none since the start");
  STEP_CHECK(!context.output("metal.rotateBmcCredential").is_null(), "the password is the site's");
  Status verified = verify_run(tools, context.run.id, rows.value());
  if (!verified.ok()) return verified.error();
  Result<RamdiskRow> ramdisk = ramdisk_of(context);
  if (!ramdisk.ok()) return ramdisk.error();
  node.clean_run = context.run.id.str();
  ramdisk.value().state = "closed";
  Done done;
  done.rows = {node.change(), ramdisk.value().change(),
               event_of(tools, context, "node.enrolled",
                        Json{{"hardwareKey", node.hardware_key},
                             {"disks", node.disks.size()},
                             {"gpus", node.gpus.size()}})};
  done.output = Json{{"evidence", node.clean_run}};
  done.notices.push_back(Json{{"type", "close-node"}, {"node", node.id.str()}});
  return done;
}

StepOutcome enrol_clean_up(const Tools& tools, StepContext& context) {
  Result<std::vector<RamdiskRow>> opened = ramdisks(*context.rows);
  if (!opened.ok()) return opened.error();
  if (opened.value().empty()) return Done{Json{{"skipped", "nothing was armed"}}, {}, {}};
  return boot_clean_up(tools, context);
}

}  // namespace leasehold
