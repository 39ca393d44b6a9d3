#include "agent/intake.h"

#include "agent/workflows/names.h"
#include "core/base/log.h"
#include "core/hardware_profile/hardware_profile.h"
#include "core/rows/pool_policy.h"

namespace leasehold {
namespace {

Status check_expects(const WorkRow& work, const NodeRow& node) {
  if (work.expects_state && *work.expects_state != node_state_name(node.state)) {
    return Error(
        Code::kConflict,
        "the node is " + std::string(node_state_name(node.state)) + ", not " + *work.expects_state,
        "expects.state");
  }
  if (work.expects_lease && *work.expects_lease != node.lease.str()) {
    return Error(
        Code::kConflict,
        "the node's lease is \"" + node.lease.str() + "\", not \"" + *work.expects_lease + "\"",
        "expects.lease");
  }
  std::string failed_run = json_text(node.failure, "run");
  if (work.expects_run && *work.expects_run != failed_run) {
    return Error(Code::kConflict,
                 "the node failed in run \"" + failed_run + "\", not \"" + *work.expects_run + "\"",
                 "expects.run");
  }
  return {};
}

// A row from an operator is checked when it arrives, not when a teardown needs it.
Status check_content(const RowChange& change) {
  if (change.table == "pool_policy") {
    TRY(PoolPolicy::parse(change.row));
  } else if (change.table == "hardware_profile") {
    TRY(HardwareProfile::parse(change.row));
  }
  return {};
}

bool is_of_the_database(const Error& error) {
  return error.code == Code::kDatabase || error.code == Code::kIo;
}

}  // namespace

void log_work_results(const IntakeOutcome& outcome) {
  for (const Json& result : outcome.work_results) {
    bool accepted = json_bool_or(result, "accepted", false).value_or(false);
    log_line(accepted ? LogEvent::kWorkAccepted : LogEvent::kWorkRefused,
             Json{{"work", json_text(result, "work")},
                  {"node", json_text(result, "node")},
                  {"code", json_text(result, "code")},
                  {"message", json_text(result, "message")}});
  }
}

Result<IntakeOutcome> Intake::apply(Sql& sql, const Json& rows) {
  if (!rows.is_array() || rows.empty()) {
    return Error(Code::kInvalidInput, "\"rows\" must be a list of rows, and not an empty one",
                 "rows");
  }
  IntakeOutcome outcome;
  for (const Json& row : rows) {
    RowChange change = TRY(parse_row(row));
    if (find_table(change.table)->owner != RowOwner::kCoordinator) {
      return Error(Code::kForbidden, "table " + change.table + " is the site's own", "table");
    }
    TRY(check_content(change));
    if (change.table == "work") {
      TRY(apply_work(sql, change, outcome));
    } else {
      TRY(Store::put(sql, change));
    }
  }
  return outcome;
}

Status Intake::told(Sql& sql, const RowChange& change, IntakeOutcome& outcome) {
  outcome.tables.insert(change.table);
  if (change.table != "work" || change.row.is_null()) return {};
  Json known = TRY(Store::get(sql, "work_result", change.key));
  if (!known.is_null()) return {};
  Result<WorkRow> parsed = WorkRow::parse(change.row);
  WorkRow work = parsed.ok() ? parsed.value() : WorkRow();
  // Key and node of every row were checked on the way.
  work.id = WorkId(change.key);
  work.node = NodeId(json_text(change.row, "node"));
  if (!parsed.ok()) return answer(sql, work, parsed.error(), outcome);
  Result<RunId> started = start_whole(sql, work);
  if (!started.ok() && is_of_the_database(started.error())) return started.error();
  return answer(sql, work, started, outcome);
}

Status Intake::apply_work(Sql& sql, const RowChange& change, IntakeOutcome& outcome) {
  Json known = TRY(Store::get(sql, "work_result", change.key));
  if (!known.is_null()) {
    outcome.work_results.push_back(known);
    return {};
  }
  WorkRow work = TRY(WorkRow::parse(change.row));
  Result<RunId> started = start_whole(sql, work);
  if (!started.ok() && !started.error().field.empty() &&
      started.error().code == Code::kInvalidInput) {
    return started.error();
  }
  if (!started.ok() &&
      (is_of_the_database(started.error()) || started.error().code == Code::kInternal)) {
    return started.error();
  }
  TRY(Store::put(sql, change));
  return answer(sql, work, started, outcome);
}

// What is refused half-way leaves nothing behind.
Result<RunId> Intake::start_whole(Sql& sql, const WorkRow& work) {
  TRY(sql.run("SAVEPOINT work"));
  Result<RunId> started = start(sql, work);
  if (!started.ok()) TRY(sql.run("ROLLBACK TO work"));
  TRY(sql.run("RELEASE work"));
  return started;
}

Status Intake::answer(Sql& sql, const WorkRow& work, const Result<RunId>& started,
                      IntakeOutcome& outcome) {
  Status verdict = started.ok() ? Status() : Status(started.error());
  std::string run = started.ok() ? started.value().str() : "";
  RowChange result = work_result_row(work, verdict, run);
  TRY(Store::put(sql, result));
  outcome.work_results.push_back(result.row);
  if (started.ok() && !run.empty()) outcome.to_launch.push_back(started.value());
  return {};
}

Result<RunId> Intake::start(Sql& sql, const WorkRow& work) {
  NodeRow node = TRY(Store::node(sql, work.node));
  TRY(check_expects(work, node));
  if (work.kind == "release") return release(sql, work, node);
  if (work.kind == "recover") return recover(sql, work, node);
  if (work.kind == "inspect") return inspect(sql, work, node);
  if (work.kind == "maintenance") {
    node.maintenance = work.on;
    TRY(Store::put(sql, node.change()));
    TRY(event(sql, "node.maintenance", node, Json{{"on", work.on}}));
    return RunId();
  }
  if (work.kind == "quarantine") {
    if (node.state != NodeState::kReady) {
      return Error(Code::kConflict, "only a ready node can be quarantined");
    }
    node.state = NodeState::kFailed;
    node.failed_from = "ready";
    node.maintenance = true;
    node.power_off_owed = true;
    node.failure = Json{{"code", code_name(Code::kQuarantined)},
                        {"message", "taken out of use by work " + work.id.str()},
                        {"run", ""},
                        {"at", format_time(tools_.clock->now_ms())}};
    TRY(Store::put(sql, node.change()));
    TRY(event(sql, "node.quarantined", node, Json::object()));
    return RunId();
  }
  return Error(Code::kUnsupported, "this agent does not know work of kind \"" + work.kind + "\"");
}

Result<RunId> Intake::release(Sql& sql, const WorkRow& work, NodeRow node) {
  if (node.state == NodeState::kFailed) {
    return Error(Code::kConflict, "the node has failed: only a recover moves it");
  }
  if (node.state != NodeState::kDeployed || node.lease.empty()) {
    return Error(Code::kConflict, "the node is " + std::string(node_state_name(node.state)) +
                                      "; only a deployed node with a lease is released");
  }
  // First the run: if the node has one that is still cleaning up, nothing else of this happens.
  RunId run = TRY(begin(sql, work, node, kReleaseWorkflow));
  node.state = NodeState::kReleasing;
  node.failed_from.clear();
  TRY(Store::put(sql, node.change()));
  TRY(event(sql, "node.tenant-root.ending", node, Json{{"lease", node.lease.str()}}));
  return run;
}

Result<RunId> Intake::recover(Sql& sql, const WorkRow& work, NodeRow node) {
  if (node.state != NodeState::kFailed) {
    return Error(Code::kConflict, "the node is " + std::string(node_state_name(node.state)) +
                                      "; only a failed node is recovered");
  }
  // Still tenant_root: the whole teardown from its first step. Past its exit: only parking is left.
  // Nobody's: its evidence is made anew.
  bool parked_only = !node.tenant_root && node.failed_from == "releasing";
  bool anew = !node.tenant_root && (node.failed_from == "enrolling" || node.failed_from == "ready");
  if (anew) return enrol_again(sql, work, node);
  if (!node.tenant_root && !parked_only) {
    return Error(Code::kUnsupported, "this agent cannot recover a node that failed from \"" +
                                         node.failed_from + "\" without a lease");
  }
  RunId run = TRY(begin(sql, work, node, parked_only ? kParkWorkflow : kReleaseWorkflow));
  node.state = NodeState::kReleasing;
  TRY(Store::put(sql, node.change()));
  TRY(event(sql, "node.recovering", node, Json{{"from", node.failed_from}}));
  return run;
}

Result<RunId> Intake::inspect(Sql& sql, const WorkRow& work, const NodeRow& node) {
  if (node.state != NodeState::kReady) {
    return Error(Code::kConflict, "the node is " + std::string(node_state_name(node.state)) +
                                      "; only a ready node is inspected");
  }
  if (node.maintenance) {
    return Error(Code::kConflict, "the node is in maintenance, which stops inspections");
  }
  return begin(sql, work, node, kInspectWorkflow);
}

Result<RunId> Intake::begin(Sql& sql, const WorkRow& work, const NodeRow& node,
                            const std::string& workflow) {
  RunInfo run;
  run.id = RunId(random_id(*tools_.random, "r"));
  run.node = node.id;
  run.lease = node.lease;
  run.work = work.id;
  run.workflow = workflow;
  run.generation = node.generation;
  run.started_ms = tools_.clock->now_ms();
  run.deadline_ms = work.deadline_ms;
  if (tools_.gate != nullptr) TRY(tools_.gate->may_start(sql));
  TRY(engine_.begin(sql, run));
  return run.id;
}

Status Intake::event(Sql& sql, const std::string& name, const NodeRow& node, Json fields) {
  return Store::put(sql, event_row(random_id(*tools_.random, "e"), name, node.id,
                                   tools_.clock->now_ms(), std::move(fields)));
}

}  // namespace leasehold
