#include "agent/sync/restore.h"

#include <algorithm>
#include <map>

#include "agent/engine/engine.h"
#include "core/base/bytes.h"
#include "core/evidence/dsse.h"

namespace leasehold {
namespace {

constexpr const char* kWhy =
    "the site's database was restored while this run was open; what it did since is not known";

using RunOfNode = std::map<std::string, std::string>;

struct Settling {
  Sql& sql;
  int64_t now_ms;
  Random& random;
  RestoreOutcome outcome;
};

Status close_row(Settling& work, Json row, RunOfNode& nodes) {
  std::string run = TRY(json_string(row, "run"));
  nodes[json_text(row, "node")] = run;
  row["state"] = "failed";
  row["attempt"] = 0;
  row["placeStartedAt"] = "";
  row["code"] = code_name(Code::kRestored);
  row["message"] = kWhy;
  row["finishedAt"] = format_time(work.now_ms);
  work.outcome.closed.emplace_back(run);
  return Store::put(work.sql, RowChange{"run", run, std::move(row)});
}

// The journal's open runs, and those that only the rows know of because they began after the
// backup.
Result<RunOfNode> close_runs(Settling& work) {
  RunOfNode nodes;
  Error error(Code::kRestored, kWhy);
  for (const RunInfo& run : TRY(Engine::abandon(work.sql, error, work.now_ms))) {
    Json row = TRY(Store::get(work.sql, "run", run.id.str()));
    if (row.is_null()) nodes[run.node.str()] = run.id.str();
  }
  for (Json& row : TRY(Store::all(work.sql, "run"))) {
    if (json_text(row, "state") == "open") TRY(close_row(work, std::move(row), nodes));
  }
  return nodes;
}

bool on_the_way(NodeState state) {
  return state == NodeState::kEnrolling || state == NodeState::kDeploying ||
         state == NodeState::kReleasing;
}

Status quarantine(Settling& work, NodeRow& node, const std::string& run) {
  if (node.state != NodeState::kFailed) {
    node.failed_from = node_state_name(node.state);
    node.state = NodeState::kFailed;
    node.failure = Json{{"code", code_name(Code::kRestored)},
                        {"message", kWhy},
                        {"run", run},
                        {"at", format_time(work.now_ms)}};
  }
  node.maintenance = true;
  node.power_off_owed = true;
  work.outcome.quarantined.push_back(node.id);
  return Store::put(work.sql, event_row(random_id(work.random, "e"), "node.quarantined", node.id,
                                        work.now_ms, Json{{"code", "RESTORED"}}));
}

// A deployed node is somebody's and stays so: its lease, its trust, its power. Only what was on the
// way, or had a run, cannot be known any more.
Status settle_node(Settling& work, NodeRow node, const RunOfNode& runs) {
  node.generation += limits::kGenerationJump;
  auto run = runs.find(node.id.str());
  bool had_run = run != runs.end();
  bool unknown = on_the_way(node.state) || (had_run && node.state != NodeState::kDeployed &&
                                            node.state != NodeState::kRetired);
  if (unknown) TRY(quarantine(work, node, had_run ? run->second : ""));
  return Store::put(work.sql, node.change());
}

// The number and digest of the newest run evidence among the rows.
Status settle_chain(Settling& work) {
  Json chain = TRY(Store::get(work.sql, "site_state", "evidence-chain"));
  int64_t seq = chain.is_null() ? 0 : TRY(json_int(chain, "seq"));
  std::string digest = json_text(chain, "digest");
  for (const Json& row : TRY(Store::all(work.sql, "result"))) {
    if (json_text(row, "kind") != "run") continue;
    Result<std::string> payload = base64_decode(json_text(json_member(row, "envelope"), "payload"));
    if (!payload.ok()) continue;
    Json statement = parse_json(payload.value(), limits::kEvidenceBytes).value_or(Json());
    int64_t number = json_int_or(json_member(statement, "predicate"), "seq", 0).value_or(0);
    if (number <= seq) continue;
    seq = number;
    digest = json_text(row, "digest");
  }
  if (seq == 0) return {};
  return Store::put(work.sql, RowChange{"site_state", "evidence-chain",
                                        Json{{"table", "site_state"},
                                             {"schema", 1},
                                             {"name", "evidence-chain"},
                                             {"seq", seq},
                                             {"digest", digest}}});
}

}  // namespace

Result<RestoreOutcome> settle_restored(Sql& sql, Clock& clock, Random& random) {
  Settling work{sql, clock.now_ms(), random, {}};
  RunOfNode runs = TRY(close_runs(work));
  for (const Json& row : TRY(Store::all(sql, "node"))) {
    NodeRow node = TRY(NodeRow::parse(row));
    TRY(settle_node(work, std::move(node), runs));
  }
  TRY(settle_chain(work));
  return std::move(work.outcome);
}

}  // namespace leasehold
