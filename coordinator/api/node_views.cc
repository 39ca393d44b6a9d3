#include "coordinator/api/node_views.h"

#include "coordinator/store/evidence.h"
#include "coordinator/store/site_rows.h"

namespace leasehold {
namespace {

bool flag(const Json& row, const char* member, bool fallback) {
  return json_bool_or(row, member, fallback).value_or(fallback);
}

// Of the newest run evidence of this machine; the site's `ready` counts only behind that very run.
struct Cleared {
  std::string word = "none";
  bool counts = false;
};

Result<Cleared> cleared(Sql& sql, const store::NodeKey& key, const Json& row) {
  std::optional<store::Evidence> newest = TRY(store::newest_evidence(sql, key.site, key.node));
  Cleared found;
  if (!newest.has_value()) return found;
  found.word = newest->verdict;
  found.counts = (newest->verdict == "clean" || newest->verdict == "unverified") &&
                 newest->run == json_text(row, "cleanRun");
  return found;
}

}  // namespace

Result<store::NodeKey> need_node(Sql& sql, const std::string& site, const std::string& node) {
  std::optional<store::NodeKey> key = TRY(store::find_node(sql, site, node));
  if (key.has_value()) return std::move(*key);
  return Error(
      Code::kNotFound,
      "there is no node \"" + node.substr(0, 64) + "\" at site \"" + site.substr(0, 64) + "\"",
      "node");
}

Result<Json> node_json(Sql& sql, const store::NodeKey& key) {
  Json row = TRY(store::site_row(sql, key.site, "node", key.node));
  Json admin = TRY(store::site_row(sql, key.site, "node_admin", key.node));
  Cleared clearance = TRY(cleared(sql, key, row));
  // What a row does not say counts against the machine.
  const bool placeable = clearance.counts && json_text(row, "state") == "ready" &&
                         json_text(row, "trust") == "platform" && !flag(row, "tenantRoot", true) &&
                         !flag(row, "maintenance", true) && !flag(row, "powerOffOwed", true) &&
                         !flag(admin, "cordon", true);
  return Json{{"site", key.site},
              {"node", key.node},
              {"pool", json_text(row, "pool")},
              {"state", json_text(row, "state")},
              {"failedFrom", json_text(row, "failedFrom")},
              {"maintenance", flag(row, "maintenance", true)},
              {"trust", json_text(row, "trust")},
              {"generation", json_int_or(row, "generation", 0).value_or(0)},
              {"tenantRoot", flag(row, "tenantRoot", true)},
              {"lease", json_text(row, "lease")},
              {"powerOffOwed", flag(row, "powerOffOwed", true)},
              {"cordon", flag(admin, "cordon", false)},
              {"taints", json_member(admin, "taints")},
              {"labels", json_member(admin, "labels")},
              {"location", json_text(admin, "location")},
              {"clearance", clearance.word},
              {"placeable", placeable},
              {"failure", json_member(row, "failure")},
              {"openRun", key.open_run.empty() ? Json() : Json(key.open_run)}};
}

Result<Json> run_json(Sql& sql, const store::RunKey& key) {
  Json row = TRY(store::site_row(sql, key.site, "run", key.run));
  Json run = {{"site", key.site}, {"run", key.run}};
  for (const char* member :
       {"node", "lease", "workflow", "generation", "state", "place", "title", "group", "pass",
        "attempt", "placeStartedAt", "code", "message", "startedAt", "finishedAt"}) {
    run[member] = json_member(row, member);
  }
  return run;
}

}  // namespace leasehold
