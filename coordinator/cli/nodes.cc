#include "coordinator/cli/nodes.h"

#include <algorithm>

#include "core/base/code.h"

namespace leasehold {
namespace {

bool flag(const Json& row, const std::string& key) {
  return json_bool_or(row, key, false).value_or(false);
}

std::string failure_code(const Json& node) {
  return json_text(node, "state") == "failed" ? json_text(json_member(node, "failure"), "code")
                                              : "";
}

// What is out of the ordinary, the most urgent first.
std::string notes_of(const Json& node) {
  Json notes = Json::array();
  if (flag(node, "powerOffOwed")) notes.push_back("power-off owed");
  if (!cell_text(node, "openRun").empty()) notes.push_back("running");
  if (flag(node, "cordon")) notes.push_back("cordoned");
  // A failed machine is always in it.
  const bool failed = json_text(node, "state") == "failed";
  if (flag(node, "maintenance") && !failed) notes.push_back("maintenance");
  const std::string taints = joined(json_member(node, "taints"));
  if (!taints.empty()) notes.push_back(taints);
  return joined(notes);
}

std::string labels_text(const Json& labels) {
  std::string out;
  if (!labels.is_object()) return out;
  for (const auto& [key, value] : labels.items()) {
    out += (out.empty() ? "" : ", ") + key + "=" + cell_text(labels, key);
  }
  return out;
}

std::string open_run(const Json& node) {
  const Json& run = json_member(node, "openRun");
  return run.is_object() ? json_text(run, "run") : cell_text(node, "openRun");
}

std::string lease_text(const Json& node) {
  const std::string lease = json_text(node, "lease");
  if (lease.empty()) return flag(node, "tenantRoot") ? "none, but a tenant has root" : "none";
  return lease + (flag(node, "tenantRoot") ? ", with root" : "");
}

std::string clearance_text(const Json& node) {
  const std::string clearance = json_text(node, "clearance");
  const bool waits = clearance == "none" && json_text(node, "state") == "ready";
  return waits ? "none: its evidence has not been judged yet" : clearance;
}

std::vector<Field> node_fields(const Console& console, const Json& node) {
  const std::string from = json_text(node, "failedFrom");
  std::vector<Field> fields = {
      {"node", place_name(node)},
      {"pool", json_text(node, "pool")},
      {"state", json_text(node, "state") + (from.empty() ? "" : ", from " + from)},
      {"clearance", clearance_text(node)},
      {"placeable", cell_text(node, "placeable")},
      {"trust", json_text(node, "trust")},
      {"generation", cell_text(node, "generation")},
      {"lease", lease_text(node)},
      {"maintenance", cell_text(node, "maintenance")},
      {"cordon", cell_text(node, "cordon")}};
  const auto if_any = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) fields.push_back({name, value});
  };
  if (flag(node, "powerOffOwed")) {
    fields.push_back({"power", "Off is owed: the site goes on until the BMC reads Off"});
  }
  if_any("taints", joined(json_member(node, "taints")));
  if_any("labels", labels_text(json_member(node, "labels")));
  if_any("location", json_text(node, "location"));
  if_any("BMC", json_text(node, "bmcUrl"));
  if_any("boot MAC", json_text(node, "bootMac"));
  if_any("GPUs", joined(json_member(node, "gpus")));
  const Json& failure = json_member(node, "failure");
  if (failure_code(node).empty()) {
    if_any("open run", open_run(node));
    return fields;
  }
  for (Field& field : failure_fields(failure_code(node), json_text(failure, "message"))) {
    fields.push_back(std::move(field));
  }
  if_any("failed run", json_text(failure, "run"));
  if_any("failed at", console.time_long(json_text(failure, "at")));
  if_any("open run", open_run(node));
  return fields;
}

std::string size_text(const Json& disk) {
  const int64_t bytes = json_int_or(disk, "capacity_bytes", -1).value_or(-1);
  if (bytes < 0) return "";
  const char* units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  int64_t tenths = bytes * 10;
  while (tenths >= 10'000 && unit + 1 < std::size(units)) {
    tenths /= 1000;
    ++unit;
  }
  const std::string whole = std::to_string(tenths / 10);
  return whole + (tenths % 10 == 0 || tenths >= 1000 ? "" : "." + std::to_string(tenths % 10)) +
         " " + units[unit];
}

void print_disks(const Console& console, const Json& disks) {
  if (!disks.is_array() || disks.empty()) return;
  Table table({{"DISK", Shorten::kMiddle, 12},
               {"MODEL", Shorten::kEnd, 12},
               {"SIZE", Shorten::kNever, 0, false, false, true},
               {"TRANSPORT"},
               {"HIDDEN AREAS"}});
  for (const Json& disk : disks) {
    table.add({json_text(disk, "serial"), json_text(disk, "model"), size_text(disk),
               json_text(disk, "transport"), json_text(disk, "hidden_areas")});
  }
  console.print("\n" + table.text(console.width));
}

void print_runs(const Console& console, const Json& runs) {
  if (!runs.is_array() || runs.empty()) return;
  Table table({{"RUN", Shorten::kMiddle, 18},
               {"WORKFLOW", Shorten::kEnd, 14},
               {"STATE"},
               {"CODE", Shorten::kEnd, 10, false, true},
               {"STARTED"},
               {"FINISHED"}});
  for (const Json& run : runs) {
    table.add({json_text(run, "run"), json_text(run, "workflow"), json_text(run, "state"),
               json_text(run, "code"), console.time(json_text(run, "startedAt")),
               console.time(json_text(run, "finishedAt"))});
  }
  console.print("\n" + table.text(console.width));
}

void print_patched(const Console& console, const Json& node, const std::string& what) {
  if (console.json) return console.print_json(node);
  console.print(harmless(place_name(node) + ": " + what) + "\n");
}

Result<Json> patch(Session& session, const Json& node, const Json& changes) {
  return session.api.send("PATCH", path_of("nodes", node, "node"), changes);
}

// A list of "x" and "x-"; the former are added, the latter removed. Removing what is not there is
// no error: the wish is fulfilled.
Result<Json> changed_taints(const Json& taints, const std::vector<std::string>& changes) {
  std::vector<std::string> kept;
  if (taints.is_array()) {
    for (const Json& each : taints) kept.push_back(each.is_string() ? each.get<std::string>() : "");
  }
  for (const std::string& change : changes) {
    const bool remove = change.ends_with('-');
    const std::string taint = remove ? change.substr(0, change.size() - 1) : change;
    if (taint.empty()) return Error(Code::kInvalidInput, "a taint is a word, not \"\"", "TAINT");
    std::erase(kept, taint);
    if (!remove) kept.push_back(taint);
  }
  return Json(kept);
}

Result<Json> changed_labels(Json labels, const std::vector<std::string>& changes) {
  if (!labels.is_object()) labels = Json::object();
  for (const std::string& change : changes) {
    const size_t sign = change.find('=');
    if (sign != std::string::npos && sign > 0) {
      labels[change.substr(0, sign)] = change.substr(sign + 1);
    } else if (change.size() > 1 && change.ends_with('-')) {
      labels.erase(change.substr(0, change.size() - 1));
    } else {
      return Error(Code::kInvalidInput,
                   "a label is KEY=VALUE, or KEY- to take it away, not \"" + change + "\"",
                   "LABEL");
    }
  }
  return labels;
}

}  // namespace

std::vector<Field> failure_fields(const std::string& code, const std::string& message) {
  std::vector<Field> fields = {{"failure", code + (message.empty() ? "" : ": " + message)}};
  const std::optional<Code> known = code_from_name(code);
  if (known.has_value()) fields.push_back({"", std::string(code_next(*known))});
  return fields;
}

Status node_list(Session& session, const NodeListOptions& options) {
  const Json nodes = TRY(session.api.list(
      "/v1/nodes", {{"site", options.site}, {"pool", options.pool}, {"state", options.state}}));
  if (session.console.json) {
    session.console.print_json({{"items", nodes}});
    return {};
  }
  Table table({{"NODE", Shorten::kMiddle, 12},
               {"STATE"},
               {"CLEARANCE"},
               {"TRUST"},
               {"FAILURE", Shorten::kEnd, 20, false, true},
               {"NOTES", Shorten::kEnd, 8, false, true},
               {"POOL", Shorten::kMiddle, 10, true},
               {"GEN", Shorten::kNever, 0, true, false, true},
               {"LEASE", Shorten::kMiddle, 10, true, true},
               {"LOCATION", Shorten::kEnd, 8, true, true}});
  for (const Json& node : nodes) {
    table.add({place_name(node), json_text(node, "state"), json_text(node, "clearance"),
               json_text(node, "trust"), failure_code(node), notes_of(node),
               json_text(node, "pool"), cell_text(node, "generation"), json_text(node, "lease"),
               json_text(node, "location")});
  }
  const bool all = options.site.empty() && options.pool.empty() && options.state.empty();
  session.console.print_table(
      table, all ? "no nodes yet: enrol machines at their site with leasehold-agent enrol"
                 : "no node is like that; all of them: leasehold node list");
  return {};
}

Status node_show(Session& session, const std::string& name) {
  const Json node = TRY(find_in_sites(session, "nodes", name));
  const Console& console = session.console;
  if (console.json) {
    console.print_json(node);
    return {};
  }
  console.print_fields(node_fields(console, node));
  print_disks(console, json_member(node, "disks"));
  print_runs(console, json_member(node, "runs"));
  return {};
}

Status node_cordon(Session& session, const std::string& name, bool on) {
  const Json node = TRY(find_in_sites(session, "nodes", name));
  const Json patched = TRY(patch(session, node, {{"cordon", on}}));
  print_patched(session.console, patched,
                on ? "cordoned: nothing is placed on it" : "no longer cordoned");
  return {};
}

Status node_set_location(Session& session, const std::string& name, const std::string& location) {
  const Json node = TRY(find_in_sites(session, "nodes", name));
  const Json patched = TRY(patch(session, node, {{"location", location}}));
  print_patched(session.console, patched,
                location.empty() ? "has no location" : "location " + location);
  return {};
}

Status node_label(Session& session, const std::string& name,
                  const std::vector<std::string>& changes) {
  TRY(changed_labels(Json::object(), changes));  // wrong words are refused before anything is asked
  const Json node = TRY(find_in_sites(session, "nodes", name));
  const Json labels = TRY(changed_labels(json_member(node, "labels"), changes));
  const Json patched = TRY(patch(session, node, {{"labels", labels}}));
  const std::string text = labels_text(json_member(patched, "labels"));
  print_patched(session.console, patched, text.empty() ? "has no labels" : "labels " + text);
  return {};
}

Status node_taint(Session& session, const std::string& name,
                  const std::vector<std::string>& changes) {
  TRY(changed_taints(Json::array(), changes));
  const Json node = TRY(find_in_sites(session, "nodes", name));
  const Json taints = TRY(changed_taints(json_member(node, "taints"), changes));
  const Json patched = TRY(patch(session, node, {{"taints", taints}}));
  const std::string text = joined(json_member(patched, "taints"));
  print_patched(session.console, patched, text.empty() ? "has no taints" : "taints " + text);
  return {};
}

}  // namespace leasehold
