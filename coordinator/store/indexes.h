// What lists are asked by: nodes, runs and works, kept up to date with the rows that sites send, in
// the transaction that applies them. The rows themselves are in core/sync's tables. Inside a
// transaction, on the database's thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/db/database.h"

namespace leasehold::store {

struct NodeKey {
  std::string site;
  std::string node;
  std::string open_run;
};
struct NodeQuery {
  std::string site, pool, state;       // empty: any
  std::string after_site, after_node;  // exclusive
  int64_t limit = 0;
};
// The row of a node as it is now, or null: it is gone.
Status index_node(Sql& sql, const std::string& site, const std::string& node, const Json& row);
Result<std::vector<NodeKey>> list_nodes(Sql& sql, const NodeQuery& query);
Result<std::optional<NodeKey>> find_node(Sql& sql, const std::string& site,
                                         const std::string& node);

struct RunKey {
  std::string started_at;
  std::string site;
  std::string run;
};
struct RunQuery {
  std::string site, node, state;
  std::optional<RunKey> before;  // newest first; exclusive
  int64_t limit = 0;
};
Status index_run(Sql& sql, const std::string& site, const std::string& run, const Json& row);
Result<std::vector<RunKey>> list_runs(Sql& sql, const RunQuery& query);

struct Counts {
  int64_t nodes = 0;
  int64_t open_runs = 0;
};
Result<Counts> count_all(Sql& sql);

struct Work {
  std::string work;
  std::string site;
  std::string node;
  std::string kind;
  int64_t created_at_ms = 0;
  int64_t answered_at_ms = 0;  // 0: not yet
};
Status add_work(Sql& sql, const Work& work);
Status answer_work(Sql& sql, const std::string& site, const std::string& work, int64_t at_ms);
Result<bool> has_unanswered_work(Sql& sql, const std::string& site, const std::string& node,
                                 const std::string& kind);
Result<std::optional<Work>> find_work(Sql& sql, const std::string& work);

}  // namespace leasehold::store
