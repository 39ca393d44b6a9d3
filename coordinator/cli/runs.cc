#include "coordinator/cli/runs.h"

#include <algorithm>
#include <ostream>

#include "coordinator/cli/nodes.h"
#include "coordinator/cli/terminal.h"

namespace leasehold {
namespace {

constexpr int64_t kLookMs = 250;

std::string took(const Json& row) {
  return time_between(json_text(row, "startedAt"), json_text(row, "finishedAt"));
}

std::string step_name(const Json& step) {
  const std::string pass = cell_text(step, "pass");
  return json_text(step, "place") + (pass.empty() || pass == "1" ? "" : " (pass " + pass + ")");
}

// A failed step is what is looked for; it shouts.
std::string step_state(const Json& step) {
  const std::string state = json_text(step, "state");
  return state == "failed" ? "FAILED" : state;
}

std::string step_key(const Json& step) {
  return json_text(step, "step") + " " + json_text(step, "place") + " " + cell_text(step, "pass") +
         " " + cell_text(step, "attempt") + " " + json_text(step, "state");
}

std::string padded(const std::string& text, size_t width) {
  const size_t own = display_width(text);
  return text + std::string(width > own ? width - own : 0, ' ') + "  ";
}

// As wide as any place of the workflows we know; a longer name pushes the rest.
std::string watch_line(const Console& console, const Json& step) {
  const std::string place = harmless(step_name(step));
  std::string line = padded(console.time(json_text(step, "finishedAt")), 8) +
                     padded(harmless(json_text(step, "group")), 7) + padded(place, 36) +
                     padded(harmless(step_state(step)), 6) + took(step);
  line.erase(line.find_last_not_of(' ') + 1);
  const std::string message = harmless(json_text(step, "message"));
  const std::string code = harmless(json_text(step, "code"));
  if (!code.empty()) line += "\n          " + code + (message.empty() ? "" : ": " + message);
  return line + "\n";
}

// Prints the steps that are over and were not printed before.
void print_new_steps(const Console& console, const Json& run, std::vector<std::string>& printed) {
  const Json& steps = json_member(run, "steps");
  if (!steps.is_array()) return;
  for (const Json& step : steps) {
    if (json_text(step, "finishedAt").empty()) continue;
    const std::string key = step_key(step);
    if (std::find(printed.begin(), printed.end(), key) != printed.end()) continue;
    printed.push_back(key);
    if (!console.json) console.print(watch_line(console, step));
  }
}

bool is_open(const Json& run) { return json_text(run, "state") == "open"; }

std::string end_line(const Console& console, const Json& run) {
  std::string line = console.time(json_text(run, "finishedAt")) + "  run " +
                     json_text(run, "state") + " after " + took(run);
  const std::string code = json_text(run, "code");
  if (!code.empty()) line += ": " + code + ": " + json_text(run, "message");
  const std::optional<Code> known = code_from_name(code);
  return harmless(line) + "\n" +
         (known.has_value() ? "  " + std::string(code_next(*known)) + "\n" : "");
}

std::vector<Field> run_fields(const Console& console, const Json& run) {
  std::vector<Field> fields = {{"run", place_name(run, "run")},
                               {"node", json_text(run, "node")},
                               {"lease", json_text(run, "lease")},
                               {"workflow", json_text(run, "workflow")},
                               {"state", json_text(run, "state")},
                               {"started", console.time_long(json_text(run, "startedAt"))}};
  const std::string finished = json_text(run, "finishedAt");
  if (finished.empty()) {
    fields.push_back(
        {"at",
         step_name(run) + (json_text(run, "title").empty() ? "" : ": " + json_text(run, "title"))});
  } else {
    fields.push_back({"finished", console.time_long(finished) + ", after " + took(run)});
  }
  if (json_text(run, "code").empty()) return fields;
  for (Field& field : failure_fields(json_text(run, "code"), json_text(run, "message"))) {
    fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace

Status run_list(Session& session, const RunListOptions& options) {
  const Console& console = session.console;
  Query query = {{"site", options.site}, {"node", options.node}, {"state", options.state}};
  if (!options.node.empty()) {
    const Json node = TRY(find_in_sites(session, "nodes", options.node));
    query[0].second = json_text(node, "site");
    query[1].second = json_text(node, "node");
  }
  const Json runs = TRY(session.api.list("/v1/runs", query, options.most));
  if (console.json) {
    console.print_json({{"items", runs}});
    return {};
  }
  Table table({{"RUN", Shorten::kMiddle, 24},
               {"NODE", Shorten::kMiddle, 8},
               {"STATE"},
               {"STEP OR CODE", Shorten::kEnd, 12},
               {"STARTED"},
               {"TOOK", Shorten::kNever, 0, true},
               {"WORKFLOW", Shorten::kEnd, 20, true},
               {"LEASE", Shorten::kMiddle, 10, true, true}});
  for (const Json& run : runs) {
    table.add({place_name(run, "run"), json_text(run, "node"), json_text(run, "state"),
               is_open(run) ? step_name(run) : json_text(run, "code"),
               console.time(json_text(run, "startedAt")), took(run), json_text(run, "workflow"),
               json_text(run, "lease")});
  }
  const bool all = options.site.empty() && options.node.empty() && options.state.empty();
  console.print_table(table, all ? "no runs yet: release or enrol a machine"
                                 : "no run is like that; all of them: leasehold run list");
  if (options.most != 0 && runs.size() == options.most) {
    console.note("these are the newest " + std::to_string(options.most) + "; --limit 0 for all");
  }
  return {};
}

Status run_show(Session& session, const std::string& name) {
  const Json run = TRY(find_in_sites(session, "runs", name));
  const Console& console = session.console;
  if (console.json) {
    console.print_json(run);
    return {};
  }
  console.print_fields(run_fields(console, run));
  Table table({{"GROUP"},
               {"STEP", Shorten::kMiddle, 20},
               {"STATE"},
               {"FINISHED"},
               {"TOOK"},
               {"CODE", Shorten::kEnd, 20, false, true}});
  const Json& steps = json_member(run, "steps");
  for (size_t i = 0; steps.is_array() && i < steps.size(); ++i) {
    const Json& step = steps[i];
    table.add({json_text(step, "group"), step_name(step), step_state(step),
               console.time(json_text(step, "finishedAt")), took(step), json_text(step, "code")});
  }
  if (!table.empty()) console.print("\n" + table.text(console.width));
  return {};
}

Result<Json> follow_run(Session& session, const Json& found) {
  const Console& console = session.console;
  PatientClient patient(session);
  std::vector<std::string> printed;
  Json run = found;
  if (!console.json) {
    console.print(harmless(place_name(run, "run") + "  " + json_text(run, "workflow") + ", node " +
                           json_text(run, "node")) +
                  "\n");
  }
  while (true) {
    print_new_steps(console, run, printed);
    if (!is_open(run)) break;
    if (!console.out) return Error(Code::kIo, "nobody reads what is written");
    console.clock.sleep_ms(kLookMs);
    run = TRY(patient.get(path_of("runs", found, "run")));
  }
  if (!console.json) console.print(end_line(console, run));
  return run;
}

int run_exit_code(const Json& run) {
  return json_text(run, "state") == "succeeded" ? kExitDone : kExitRefused;
}

Result<int> run_watch(Session& session, const std::string& name) {
  const Json found = TRY(find_in_sites(session, "runs", name));
  const Json run = TRY(follow_run(session, found));
  if (session.console.json) session.console.print_json(run);
  return run_exit_code(run);
}

}  // namespace leasehold
