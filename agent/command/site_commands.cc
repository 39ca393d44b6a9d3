#include <iostream>

#include "agent/command/command.h"
#include "agent/command/site_client.h"
#include "agent/command/table.h"
#include "core/base/files.h"
#include "core/base/harmless.h"
#include "core/base/log.h"

namespace leasehold {
namespace {

std::string yes(bool value) { return value ? "yes" : ""; }

std::string failure_of(const Json& node) {
  std::string code = json_text(json_member(node, "failure"), "code");
  return json_text(node, "state") == "failed" ? code : "";
}

// Past exit, ready means: shown by this site. Cleared is what its coordinator found in the
// evidence.
std::string state_of(const Json& node) {
  std::string state = json_text(node, "state");
  if (state != "ready") return state;
  std::string clearance = json_text(node, "clearance");
  if (clearance == "clean") return "ready, cleared";
  if (clearance == "refused") return "ready, refused";
  if (clearance == "unverified") return "ready, unverified";
  return "ready, not cleared";
}

// How the site stands to its coordinator, and what to do if it does not act.
std::string coordinator_text(const Json& status) {
  const Json& centre = json_member(status, "coordinator");
  if (!centre.is_object()) return "";
  bool connected = flag_of(centre, "connected");
  std::string standing = json_text(centre, "standing");
  std::string out = "coordinator " + json_text(centre, "url") +
                    (connected ? "   connected" : "   NOT CONNECTED") + "   " + standing +
                    "   term until " + json_text(status, "authorityUntil") + "\n";
  std::string error = json_text(centre, "error");
  if (!connected && !error.empty()) out += "  " + error + "\n";
  if (standing == "acting") return out;
  out += "  " + json_text(centre, "why") + "\n";
  if (standing == "superseded") out += "  " + std::string(code_next(Code::kSuperseded)) + "\n";
  if (standing == "waiting") out += "  " + std::string(code_next(Code::kAuthorityOver)) + "\n";
  return out;
}

std::string status_text(const Json& status) {
  std::string out = "site " + json_text(status, "site") + "   gateway " +
                    json_text(status, "gateway") + "   bootd " + json_text(status, "bootd") + "\n" +
                    coordinator_text(status) + "\n";
  std::vector<std::vector<std::string>> rows = {
      {"NODE", "STATE", "FAILURE", "TRUST", "GEN", "MAINT", "OFF OWED", "LEASE"}};
  for (const Json& node : json_member(status, "nodes")) {
    rows.push_back({json_text(node, "node"), state_of(node), failure_of(node),
                    json_text(node, "trust"), std::to_string(number_of(node, "generation")),
                    yes(flag_of(node, "maintenance")), yes(flag_of(node, "powerOffOwed")),
                    json_text(node, "lease")});
  }
  out += format_table(rows);
  const Json& runs = json_member(status, "runs");
  if (runs.empty()) return out + "\nno open runs\n";
  rows = {{"RUN", "NODE", "STEP", "PASS", "SINCE", "WAITING FOR"}};
  for (const Json& run : runs) {
    rows.push_back({json_text(run, "run"), json_text(run, "node"), json_text(run, "place"),
                    std::to_string(number_of(run, "pass")), json_text(run, "since"),
                    json_text(run, "waitingFor")});
  }
  return out + "\n" + format_table(rows);
}

// Each failed machine with the one line that says what to do.
std::string advice_text(const Json& status) {
  std::string out;
  for (const Json& node : json_member(status, "nodes")) {
    std::optional<Code> code = code_from_name(failure_of(node));
    if (!code.has_value()) continue;
    out += "\n" + json_text(node, "node") + ": " + failure_of(node) + ": " +
           json_text(json_member(node, "failure"), "message") + "\n  " +
           std::string(code_next(*code)) + "\n";
  }
  return out;
}

int show_status(const CommandSettings& settings) {
  SiteClient client(settings.socket_path);
  Result<Json> status = client.get("/v1/status");
  if (!status.ok()) return print_error(status.error());
  if (settings.json) {
    std::cout << harmless_json(dump_json(status.value())) << "\n";
  } else {
    std::cout << harmless_lines(status_text(status.value()) + advice_text(status.value()));
  }
  return 0;
}

Result<int> apply_rows(const CommandSettings& settings, const std::string& file) {
  Json content = TRY(read_json_file(file, limits::kConfigBytes));
  Json rows = content.is_array() ? content : json_member(content, "rows");
  if (content.is_object() && content.contains("table")) rows = Json::array({content});
  SiteClient client(settings.socket_path);
  Json answer = TRY(client.post("/v1/rows", Json{{"rows", rows}}));
  int exit_code = 0;
  for (const Json& result : json_member(answer, "work_results")) {
    if (!flag_of(result, "accepted")) exit_code = 1;
    if (settings.json) continue;
    std::cout << harmless("work " + json_text(result, "work") + ": " +
                          (flag_of(result, "accepted") ? "accepted, run " + json_text(result, "run")
                                                       : "refused, " + json_text(result, "code") +
                                                             ": " + json_text(result, "message")))
              << "\n";
  }
  if (settings.json) std::cout << harmless_json(dump_json(answer)) << "\n";
  if (!settings.json) std::cout << rows.size() << " rows applied\n";
  return exit_code;
}

Result<int> export_evidence(const CommandSettings& settings, const std::string& run,
                            const std::string& out) {
  SiteClient client(settings.socket_path);
  std::string bundle = TRY(client.get_text("/v1/runs/" + run + "/evidence"));
  TRY(write_file_atomic(out, bundle, 0644));
  std::cout << "evidence of " << run << " written to " << out << " (" << bundle.size()
            << " bytes)\n";
  return 0;
}

int finish(const Result<int>& outcome) {
  return outcome.ok() ? outcome.value() : print_error(outcome.error());
}

}  // namespace

int print_error(const Error& error) {
  std::cerr << "leasehold-agent: " << harmless_lines(scrubbed(error.text())) << "\n";
  // A command does not try again by itself; its own message says what to look at.
  if (error.code != Code::kUnavailable) std::cerr << "  " << code_next(error.code) << "\n";
  return 1;
}

void add_status_command(CLI::App& app, CommandSettings& settings) {
  CLI::App* status =
      app.add_subcommand("status", "The site at a glance: nodes, open runs, what to do");
  status->callback([&settings] { settings.exit_code = show_status(settings); });
}

void add_rows_command(CLI::App& app, CommandSettings& settings) {
  CLI::App* rows = app.add_subcommand("rows", "Tell the site, in rows");
  rows->require_subcommand(1);
  CLI::App* apply = rows->add_subcommand("apply", "Apply a file of rows: all of them or none");
  auto file = std::make_shared<std::string>();
  apply->add_option("FILE", *file, "JSON: a row, a list of rows, or {\"rows\": [...]}")->required();
  apply->callback([&settings, file] { settings.exit_code = finish(apply_rows(settings, *file)); });
}

void add_evidence_command(CLI::App& app, CommandSettings& settings) {
  CLI::App* evidence = app.add_subcommand("evidence", "Signed evidence of this site's runs");
  evidence->require_subcommand(1);
  CLI::App* verb = evidence->add_subcommand("export", "Write the bundle of a run to a file");
  auto run = std::make_shared<std::string>();
  auto out = std::make_shared<std::string>();
  verb->add_option("RUN", *run)->required();
  verb->add_option("--out", *out, "The file to write")->required();
  verb->callback([&settings, run, out] {
    settings.exit_code = finish(export_evidence(settings, *run, *out));
  });
}

void add_explain_command(CLI::App& app, CommandSettings& settings) {
  CLI::App* explain = app.add_subcommand("explain", "What a failure code means and what to do");
  auto name = std::make_shared<std::string>();
  explain->add_option("CODE", *name)->required();
  explain->callback([&settings, name] {
    std::optional<Code> code = code_from_name(*name);
    if (!code.has_value()) {
      settings.exit_code =
          print_error(Error(Code::kNotFound, "there is no code \"" + *name + "\""));
      return;
    }
    std::cout << *name << "\n  " << code_next(*code) << "\n";
  });
}

}  // namespace leasehold
