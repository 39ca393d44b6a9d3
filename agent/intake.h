// The one intake of what a site is told: rows of pool_policy, hardware_profile, node_admin and
// work, whatever socket they came through. All rows of a batch are applied in one transaction or
// none; a work row is accepted or refused, and its work_result says so. Database thread, inside a
// transaction.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "agent/engine/engine.h"
#include "agent/store.h"
#include "agent/tools.h"

namespace leasehold {

struct IntakeOutcome {
  std::vector<Json> work_results;
  std::vector<RunId> to_launch;  // after the commit, on the loop's thread
  std::set<std::string> tables;  // that the coordinator changed
};

// A line for each work that was answered. After the commit.
void log_work_results(const IntakeOutcome& outcome);

struct EnrolOutcome {
  Json enrolments = Json::array();  // {"node","run"}, in the order of the request
  std::vector<RunId> to_launch;
};

class Intake {
 public:
  Intake(Engine& engine, const Tools& tools) : engine_(engine), tools_(tools) {}

  // INVALID_INPUT for a row that is none: then nothing of the batch happens.
  Result<IntakeOutcome> apply(Sql& sql, const Json& rows);
  // One row of the coordinator's, as the sync has just written it (null: deleted), in the same
  // transaction. A work row that cannot be done, or read, is answered as refused: an error here
  // means that the database fails, and undoes the batch.
  Status told(Sql& sql, const RowChange& change, IntakeOutcome& outcome);
  // A machine that somebody has had: deployed, tenant_root, tenant-controlled, with a lease row. It
  // can only lower trust. Answers the node's row.
  Result<Json> adopt(Sql& sql, const Json& adoption);
  // New machines, or ones whose first enrolment failed, with their credentials: all of them begin
  // their enrolment or none. `list` is a list of {"node"?, "pool", "bmc": {"url","user","password",
  // "tlsPin"?}, "bootMac"?}; an error's field begins with "enrolments[N].".
  Result<EnrolOutcome> enrol(Sql& sql, const Json& list);

 private:
  Status apply_work(Sql& sql, const RowChange& change, IntakeOutcome& outcome);
  Status answer(Sql& sql, const WorkRow& work, const Result<RunId>& started,
                IntakeOutcome& outcome);
  Result<RunId> start_whole(Sql& sql, const WorkRow& work);
  Result<RunId> start(Sql& sql, const WorkRow& work);
  Result<RunId> release(Sql& sql, const WorkRow& work, NodeRow node);
  Result<RunId> recover(Sql& sql, const WorkRow& work, NodeRow node);
  Result<RunId> enrol_again(Sql& sql, const WorkRow& work, NodeRow node);
  Result<RunId> inspect(Sql& sql, const WorkRow& work, const NodeRow& node);
  Result<RunId> enrol_one(Sql& sql, const Json& enrolment, NodeId& id);
  Result<RunId> begin(Sql& sql, const WorkRow& work, const NodeRow& node,
                      const std::string& workflow);
  Status event(Sql& sql, const std::string& name, const NodeRow& node, Json fields);

  Engine& engine_;
  const Tools& tools_;
};

}  // namespace leasehold
