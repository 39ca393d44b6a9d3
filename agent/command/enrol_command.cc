// `leasehold-agent enrol`: machines from their boxes become ready, or say why not. The progress of
// each is printed as it happens; the exit code is 0 only if all became ready.
#include <filesystem>
#include <iostream>
#include <map>

#include "agent/command/command.h"
#include "agent/command/enrol_list.h"
#include "agent/command/site_client.h"
#include "agent/command/table.h"
#include "agent/command/timeline.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/harmless.h"

namespace leasehold {
namespace {

constexpr int64_t kPatienceMs = 60'000;  // for an agent that is being restarted
constexpr int64_t kAskAgainMs = 500;

struct Arguments {
  MachineLine machine;
  std::string pool;
  std::string csv;
};

// The machines that were taken in, and which of their runs are still open.
struct Following {
  std::vector<std::pair<std::string, std::string>> machines;  // node, run
  std::map<std::string, bool> open;                           // by run
  int64_t after = 0;

  bool any_open() const {
    for (const auto& [run, is_open] : open) {
      if (is_open) return true;
    }
    return false;
  }
};

void print_event(const Json& event, bool as_json) {
  std::string line = as_json ? harmless_json(dump_json(event)) : event_line(event);
  if (!line.empty()) std::cout << line << std::endl;
}

void take_events(const Json& events, Following& following, bool as_json) {
  for (const Json& event : events) {
    following.after = std::max(following.after, number_of(event, "n"));
    auto run = following.open.find(json_text(event, "run"));
    if (run == following.open.end() || !run->second) continue;
    print_event(event, as_json);
    if (json_text(event, "kind") == "finished") run->second = false;
  }
}

// The timeline is the agent's memory: what ended before its restart is in the rows only.
Status look_at_rows(SiteClient& client, Following& following) {
  for (auto& [run, is_open] : following.open) {
    if (!is_open) continue;
    Json row = TRY(client.get("/v1/runs/" + run));
    is_open = json_text(row, "state") == "open";
  }
  return {};
}

Status follow(SiteClient& client, Following& following, bool as_json) {
  SystemClock clock;
  int64_t heard_ms = clock.monotonic_ms();
  while (following.any_open()) {
    Result<Json> answer = client.get("/v1/timeline?after=" + std::to_string(following.after));
    Status looked;
    if (answer.ok()) {
      const Json& events = json_member(answer.value(), "events");
      take_events(events, following, as_json);
      if (events.empty()) looked = look_at_rows(client, following);
    } else {
      looked = answer.error();
    }
    if (looked.ok()) {
      heard_ms = clock.monotonic_ms();
      continue;
    }
    if (looked.error().code != Code::kUnavailable ||
        clock.monotonic_ms() - heard_ms > kPatienceMs) {
      return looked;
    }
    following.after = 0;  // an agent that starts anew counts anew
    clock.sleep_ms(kAskAgainMs);
  }
  return {};
}

// The end of each machine, and whether all became ready.
Result<bool> print_end(SiteClient& client, const Following& following, bool as_json) {
  Json ends = Json::array();
  std::vector<std::vector<std::string>> table = {{"NODE", "STATE", "CODE", "RUN"}};
  std::string advice;
  bool all_ready = true;
  for (const auto& [node, run] : following.machines) {
    Json row = TRY(client.get("/v1/nodes/" + node));
    std::string state = json_text(row, "state");
    const Json& failure = state == "failed" ? json_member(row, "failure") : Json();
    std::string code = json_text(failure, "code");
    all_ready = all_ready && state == "ready";
    ends.push_back(Json{{"node", node},
                        {"run", run},
                        {"state", state},
                        {"code", code},
                        {"message", json_text(failure, "message")}});
    table.push_back({node, state, code, run});
    std::optional<Code> known = code_from_name(code);
    if (!known.has_value()) continue;
    advice += "\n" + node + ": " + json_text(failure, "message") + "\n  " +
              std::string(code_next(*known)) + "\n";
  }
  if (as_json) {
    std::cout << harmless_json(dump_json(Json{{"enrolments", ends}})) << std::endl;
  } else {
    std::cout << "\n" << format_table(table) << harmless_lines(advice);
  }
  return all_ready;
}

Result<std::vector<MachineLine>> machines_of(const Arguments& arguments) {
  if (arguments.csv.empty()) return std::vector<MachineLine>{arguments.machine};
  std::string text = TRY(read_file(arguments.csv, limits::kConfigBytes));
  return parse_machine_csv(text);
}

Result<int> enrol(const CommandSettings& settings, const Arguments& arguments) {
  std::vector<MachineLine> machines = TRY(machines_of(arguments));
  for (MachineLine& machine : machines) {
    if (machine.pool.empty()) machine.pool = arguments.pool;
  }
  std::string folder = std::filesystem::path(arguments.csv).parent_path().string();
  Json request = TRY(enrolment_request(machines, folder.empty() ? "." : folder));
  SiteClient client(settings.socket_path);
  Result<Json> answer = client.post("/v1/enrolments", request);
  if (!answer.ok()) return about_line(answer.error(), machines);
  Following following;
  for (const Json& each : json_member(answer.value(), "enrolments")) {
    following.machines.emplace_back(json_text(each, "node"), json_text(each, "run"));
    following.open[json_text(each, "run")] = true;
  }
  TRY(follow(client, following, settings.json));
  return TRY(print_end(client, following, settings.json)) ? 0 : 1;
}

}  // namespace

void add_enrol_command(CLI::App& app, CommandSettings& settings) {
  auto arguments = std::make_shared<Arguments>();
  MachineLine& machine = arguments->machine;
  CLI::App* command = app.add_subcommand(
      "enrol", "Make machines from their boxes ready: their disks are erased (docs/enrol.md)");
  command->add_option("--pool", arguments->pool, "The pool they belong to");
  CLI::Option* bmc = command->add_option("--bmc", machine.bmc, "The BMC's https address");
  command->add_option("--user", machine.user, "The BMC's account")->needs(bmc);
  command
      ->add_option("--password-file", machine.password_file,
                   "Its password, in a file of mode 0600; it is replaced by one of the site's")
      ->needs(bmc);
  command->add_option("--name", machine.name, "The node's name; without it the site makes one")
      ->needs(bmc);
  command->add_option("--boot-mac", machine.boot_mac, "The MAC that boots, if the BMC cannot say")
      ->needs(bmc);
  command
      ->add_option("--tls-pin", machine.tls_pin,
                   "SHA-256 of the BMC's certificate; without it the one that is seen is trusted")
      ->needs(bmc);
  CLI::Option* csv = command->add_option(
      "--csv", arguments->csv,
      "Many machines: bmc,user,password_file[,name,pool,boot_mac,tls_pin] with a first line");
  csv->excludes(bmc);
  command->callback([&settings, arguments] {
    if (arguments->csv.empty() && arguments->machine.bmc.empty()) {
      settings.exit_code = print_error(
          Error(Code::kInvalidInput, "name one machine with --bmc, or many with --csv"));
      return;
    }
    Result<int> outcome = enrol(settings, *arguments);
    settings.exit_code = outcome.ok() ? outcome.value() : print_error(outcome.error());
  });
}

}  // namespace leasehold
