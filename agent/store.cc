#include "agent/store.h"

#include "agent/hardware_history.h"
#include "agent/laws.h"

namespace leasehold {
namespace {

// A boot that was claimed twice while its step looked elsewhere: no evidence is accepted over it,
// and no machine becomes ready behind it.
Status check_claims(Sql& sql, const NodeRow& node) {
  for (const Json& row : TRY(row_store::all(sql, "ramdisk", node.id.str()))) {
    if (json_text(row, "run") == node.clean_run && json_text(row, "state") == "claimed-twice") {
      return Error(Code::kBootClaimedTwice,
                   "boot " + json_text(row, "boot") + " was claimed twice");
    }
  }
  return {};
}

Status check_node(Sql& sql, const RowChange& change) {
  NodeRow after = TRY(NodeRow::parse(change.row));
  Json old = TRY(row_store::get(sql, "node", change.key));
  if (old.is_null()) {
    TRY(check_node_change(nullptr, after));
    return note_hardware(sql, nullptr, after);
  }
  NodeRow before = TRY(NodeRow::parse(old));
  bool becomes_ready = before.state != after.state && after.state == NodeState::kReady;
  if (becomes_ready || (before.clean_run != after.clean_run && !after.clean_run.empty())) {
    TRY(check_claims(sql, after));
  }
  TRY(check_node_change(&before, after));
  return note_hardware(sql, &before, after);
}

Status check_laws(Sql& sql, const RowChange& change) {
  if (change.table == "node") return check_node(sql, change);
  if (change.table == "vault") {
    VaultVersion after = TRY(VaultVersion::parse(change.row));
    std::vector<VaultVersion> others;
    for (const Json& row : TRY(row_store::all(sql, "vault", after.node.str()))) {
      others.push_back(TRY(VaultVersion::parse(row)));
    }
    return check_vault_change(others, after);
  }
  if (change.table == "lease") {
    LeaseRow after = TRY(LeaseRow::parse(change.row));
    Json old = TRY(row_store::get(sql, "lease", change.key));
    if (old.is_null()) return check_lease_change(nullptr, after);
    LeaseRow before = TRY(LeaseRow::parse(old));
    return check_lease_change(&before, after);
  }
  return {};
}

Status put_all(const std::string& table, std::vector<Json> rows, Snapshot& snapshot) {
  const char* key = find_table(table)->key;
  for (Json& row : rows) {
    std::string row_key = TRY(json_string(row, key));
    snapshot.put(table, row_key, std::move(row));
  }
  return {};
}

// The node's rows of one table.
Status load_table(Sql& sql, const std::string& table, const RunInfo& run, Snapshot& snapshot) {
  return put_all(table, TRY(row_store::all(sql, table, run.node.str())), snapshot);
}

Status load_policy(Sql& sql, const RunInfo& run, Snapshot& snapshot) {
  std::string pool = json_text(snapshot.get("node", run.node.str()), "pool");
  Json policy = TRY(row_store::get(sql, "pool_policy", pool));
  if (policy.is_null()) return {};
  std::string profile = json_text(json_member(policy, "policy"), "hardwareProfile");
  snapshot.put("pool_policy", pool, std::move(policy));
  Json row = TRY(row_store::get(sql, "hardware_profile", profile));
  if (!row.is_null()) snapshot.put("hardware_profile", profile, std::move(row));
  return {};
}

}  // namespace

Status Store::put(Sql& sql, const RowChange& change) {
  if (!change.row.is_null()) {
    Status lawful = check_laws(sql, change);
    if (!lawful.ok() && is_run_code(lawful.error().code)) return lawful;
    if (!lawful.ok()) {
      // Rows of the site's own making that cannot be read are a bug as much as a broken law.
      return Error(Code::kInternal, lawful.error().message);
    }
  }
  return row_store::put(sql, change);
}

Status Store::put_of_step(Sql& sql, const RowChange& change) {
  if (change.table == "ramdisk" && !change.row.is_null()) {
    // A step that closes a boot must not hide that it was claimed twice meanwhile.
    Json now = TRY(row_store::get(sql, "ramdisk", change.key));
    RowChange kept = change;
    if (json_text(now, "state") == "claimed-twice") kept.row["state"] = "claimed-twice";
    return put(sql, kept);
  }
  if (change.table != "node" || change.row.is_null()) return put(sql, change);
  RowChange kept = change;
  Json now = TRY(row_store::get(sql, "node", change.key));
  bool fails = json_text(change.row, "state") == "failed";
  if (!now.is_null() && !fails) kept.row["maintenance"] = json_member(now, "maintenance");
  return put(sql, kept);
}

Result<Json> Store::get(Sql& sql, const std::string& table, const std::string& key) {
  return row_store::get(sql, table, key);
}

Result<NodeRow> Store::node(Sql& sql, const NodeId& id) {
  Json row = TRY(row_store::get(sql, "node", id.str()));
  if (row.is_null()) {
    return Error(Code::kNotFound, "this site has no node \"" + id.str() + "\"", "node");
  }
  Result<NodeRow> node = NodeRow::parse(row);
  if (!node.ok()) return Error(Code::kDatabase, "node " + id.str() + ": " + node.error().message);
  return node;
}

Result<std::vector<Json>> Store::all(Sql& sql, const std::string& table) {
  return row_store::all(sql, table);
}

Result<std::vector<Json>> Store::of_node(Sql& sql, const std::string& table, const NodeId& node) {
  return row_store::all(sql, table, node.str());
}

Result<std::vector<Json>> Store::of_run(Sql& sql, const std::string& table, const RunId& run) {
  return row_store::all_below(sql, table, run.str());
}

Status Store::load(Sql& sql, const RunInfo& run, Snapshot& snapshot) {
  for (const char* table : {"node", "lease", "vault"}) {
    TRY(load_table(sql, table, run, snapshot));
  }
  // Everything that a run makes is named after it: what former runs left is not even read.
  for (const char* table : {"step", "command", "result"}) {
    TRY(put_all(table, TRY(Store::of_run(sql, table, run.id)), snapshot));
  }
  for (Json& row : TRY(row_store::all(sql, "ramdisk", run.node.str()))) {
    if (json_text(row, "run") != run.id.str()) continue;
    std::string boot = TRY(json_string(row, "boot"));
    snapshot.put("ramdisk", boot, std::move(row));
  }
  Json own = TRY(row_store::get(sql, "run", run.id.str()));
  if (!own.is_null()) snapshot.put("run", run.id.str(), std::move(own));
  // A node past its exit is judged by the evidence of the run that exited.
  std::string clean = json_text(snapshot.get("node", run.node.str()), "cleanRun");
  if (!clean.empty() && clean != run.id.str()) {
    TRY(put_all("result", TRY(Store::of_run(sql, "result", RunId(clean))), snapshot));
  }
  Json chain = TRY(row_store::get(sql, "site_state", "evidence-chain"));
  if (!chain.is_null()) snapshot.put("site_state", "evidence-chain", std::move(chain));
  return load_policy(sql, run, snapshot);
}

}  // namespace leasehold
