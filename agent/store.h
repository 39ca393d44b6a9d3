// The site's database as the agent uses it: every row goes through put(), which asserts the laws of
// a change, numbers it and writes the outbox, in the caller's transaction. Inside transactions
// only, on the database's thread.
#pragma once

#include "agent/engine/workflow.h"
#include "agent/private_rows.h"
#include "core/db/database.h"
#include "core/db/row_store.h"
#include "core/rows/site_rows.h"

namespace leasehold {

class Store {
 public:
  // INTERNAL naming the law that the change would break; then the transaction must fail.
  static Status put(Sql& sql, const RowChange& change);
  // The same for a step's row: a step saw the node as of its start, so what only an operator
  // changes (maintenance) stays as it is now, unless the step fails the node; and a boot that was
  // claimed twice stays so.
  static Status put_of_step(Sql& sql, const RowChange& change);
  static Result<Json> get(Sql& sql, const std::string& table, const std::string& key);
  static Result<NodeRow> node(Sql& sql, const NodeId& id);  // NOT_FOUND
  static Result<std::vector<Json>> all(Sql& sql, const std::string& table);
  static Result<std::vector<Json>> of_node(Sql& sql, const std::string& table, const NodeId& node);
  // Of the tables whose keys begin with their run's: step, command, result.
  static Result<std::vector<Json>> of_run(Sql& sql, const std::string& table, const RunId& run);

  // What a step of this run may see (Engine::Options::load).
  static Status load(Sql& sql, const RunInfo& run, Snapshot& snapshot);
};

}  // namespace leasehold
