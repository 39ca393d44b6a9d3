#include <iostream>

#include "agent/command/command.h"
#include "agent/command/site_client.h"
#include "agent/command/table.h"
#include "agent/command/timeline.h"
#include "core/base/harmless.h"

namespace leasehold {
namespace {

struct Watch {
  std::string run;   // or empty: all
  std::string node;  // or empty: all
  int64_t after = 0;
};

// True when the watched run has finished; its outcome in `failed`.
bool print_events(const Json& events, Watch& watch, bool as_json, bool& failed) {
  for (const Json& event : events) {
    watch.after = std::max(watch.after, number_of(event, "n"));
    if (!watch.run.empty() && json_text(event, "run") != watch.run) continue;
    if (!watch.node.empty() && json_text(event, "node") != watch.node) continue;
    std::string line = as_json ? harmless_json(dump_json(event)) : event_line(event);
    if (!line.empty()) std::cout << line << std::endl;
    if (json_text(event, "kind") == "finished" && !watch.run.empty()) {
      failed = !is_success(event);
      return true;
    }
  }
  return false;
}

int watch_run(const CommandSettings& settings, Watch watch) {
  SiteClient client(settings.socket_path);
  if (!watch.run.empty()) {
    Result<Json> known = client.get("/v1/runs/" + watch.run);
    if (!known.ok()) return print_error(known.error());
  }
  while (true) {
    Result<Json> answer = client.get("/v1/timeline?after=" + std::to_string(watch.after));
    if (!answer.ok()) return print_error(answer.error());
    bool failed = false;
    const Json& events = json_member(answer.value(), "events");
    if (print_events(events, watch, settings.json, failed)) return failed ? 1 : 0;
    // The timeline is the agent's memory: a run that ended before its restart is in the rows only.
    if (watch.run.empty() || !events.empty()) continue;
    Result<Json> run = client.get("/v1/runs/" + watch.run);
    if (!run.ok()) return print_error(run.error());
    std::string state = json_text(run.value(), "state");
    if (state == "open") continue;
    std::cout << "run " << harmless(watch.run) << " " << harmless(state) << "\n";
    return state == "succeeded" ? 0 : 1;
  }
}

int show_run(const CommandSettings& settings, const std::string& run) {
  SiteClient client(settings.socket_path);
  Result<Json> row = client.get("/v1/runs/" + run);
  if (!row.ok()) return print_error(row.error());
  if (settings.json) {
    std::cout << harmless_json(dump_json(row.value())) << "\n";
    return 0;
  }
  std::string head = "run " + run + "  node " + json_text(row.value(), "node") + "  " +
                     json_text(row.value(), "workflow") + "  " + json_text(row.value(), "state");
  if (!json_text(row.value(), "code").empty()) {
    head += "  " + json_text(row.value(), "code") + ": " + json_text(row.value(), "message");
  }
  std::cout << harmless(head) << "\n\n";
  std::vector<std::vector<std::string>> table = {{"#", "STEP", "PASS", "STATE", "FINISHED"}};
  for (const Json& step : json_member(row.value(), "steps")) {
    table.push_back({json_text(step, "group"), json_text(step, "place"),
                     std::to_string(number_of(step, "pass")), json_text(step, "state"),
                     json_text(step, "finishedAt")});
  }
  std::cout << format_table(table);
  return 0;
}

}  // namespace

void add_run_command(CLI::App& app, CommandSettings& settings) {
  CLI::App* run = app.add_subcommand("run", "Runs of workflows");
  run->require_subcommand(1);
  auto id = std::make_shared<std::string>();
  CLI::App* show = run->add_subcommand("show", "A run and its steps");
  show->add_option("RUN", *id)->required();
  show->callback([&settings, id] { settings.exit_code = show_run(settings, *id); });

  auto watch = std::make_shared<Watch>();
  CLI::App* follow = run->add_subcommand(
      "watch", "The timeline as it happens; with a RUN, until it ends (exit 1 if it failed)");
  follow->add_option("RUN", watch->run);
  follow->add_option("--node", watch->node, "Only this node's runs");
  follow->callback([&settings, watch] { settings.exit_code = watch_run(settings, *watch); });
}

}  // namespace leasehold
