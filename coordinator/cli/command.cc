#include "coordinator/cli/command.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <string_view>

#include "core/command_line/our_words.h"
#include "core/curl/http_client.h"

namespace leasehold {
namespace {

constexpr size_t kHelpColumn = 30;

Result<int> run_online(const Console& console, const std::string& config_file,
                       const std::function<Result<int>(Session&)>& body) {
  ClientConfig config = TRY(read_client_config(client_config_path(config_file), console.clock));
  CurlEasyClient http;
  ApiClient api(std::move(config), http, console.clock);
  Session session{console, api};
  return body(session);
}

void add_common_options(CLI::App* verb, CommandLine& line, bool online) {
  verb->add_flag("--json", line.json, "Print JSON, errors too");
  if (!online) return;
  verb->add_option("--config", line.config_file,
                   "Instead of $LEASEHOLD_CONFIG or\n~/.config/leasehold/config.json")
      ->type_name("FILE");
}

// "a: b is required" of the library, in our words and with the way to the help.
int usage_error(const Console& console, const CLI::App& app, const CLI::ParseError& problem) {
  const CLI::App* at = &app;
  std::string path = "leasehold";
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    path += " " + at->get_name();
  }
  std::string what = problem.what();
  if (what.ends_with('.')) what.pop_back();
  const Error error(Code::kInvalidInput, what + "; see: " + path + " --help");
  console.err << error_text(error, console.json);
  return kExitUsage;
}

bool json_wished(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

int run_chosen(const Console& console, const CommandLine& line) {
  const Result<int> outcome = line.chosen(console);
  console.out << std::flush;
  if (!outcome.ok()) {
    console.err << error_text(outcome.error(), console.json);
    return exit_code_of(outcome.error());
  }
  if (console.out) return outcome.value();
  console.err << error_text(Error(Code::kIo, "the answer could not be written out"), console.json);
  return kExitRefused;
}

void add_nouns(CLI::App& app, CommandLine& line) {
  add_overview_commands(app, line);
  add_site_command(app, line);
  add_hardware_profile_command(app, line);
  add_pool_command(app, line);
  add_node_command(app, line);
  add_run_command(app, line);
  add_work_command(app, line);
  add_evidence_command(app, line);
  add_history_commands(app, line);
  add_ca_command(app, line);
}

}  // namespace

CLI::App* add_noun(CLI::App& app, const std::string& name, const std::string& help) {
  CLI::App* noun = app.add_subcommand(name, help);
  noun->require_subcommand(1);
  noun->get_formatter()->column_width(kHelpColumn);
  return noun;
}

CLI::App* add_verb(CLI::App& noun, const std::string& name, const std::string& help,
                   CommandLine& line, std::function<Result<int>(const Console&)> body) {
  CLI::App* verb = noun.add_subcommand(name, help);
  add_common_options(verb, line, false);
  verb->callback([&line, body = std::move(body)] { line.chosen = body; });
  return verb;
}

CLI::App* add_online_verb(CLI::App& noun, const std::string& name, const std::string& help,
                          CommandLine& line, std::function<Result<int>(Session&)> body) {
  CLI::App* verb = noun.add_subcommand(name, help);
  add_common_options(verb, line, true);
  verb->callback([&line, body = std::move(body)] {
    line.chosen = [&line, body](const Console& console) {
      return run_online(console, line.config_file, body);
    };
  });
  return verb;
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::IsMember(words).description("");
}

CLI::Validator whole_number(int64_t least, int64_t most) {
  return CLI::Range(least, most).description("");
}

int run_command_line(int argc, char** argv, Console& console) {
  CommandLine line;
  CLI::App app(
      "Leases whole machines with root, and takes them back so that the next tenant can\n"
      "trust them. Exit code: 0 done, 1 refused or failed, 2 wrong usage.",
      "leasehold");
  app.require_subcommand(1);
  app.get_formatter()->column_width(kHelpColumn);
  use_our_words(app);
  console.json = json_wished(argc, argv);
  add_nouns(app, line);
  // The library tells of --help and of wrong usage by exceptions; they end here.
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help, console.out, console.err);
    console.out << std::flush;
    return console.out ? kExitDone : kExitRefused;
  } catch (const CLI::ParseError& problem) {
    return usage_error(console, app, problem);
  }
  return run_chosen(console, line);
}

}  // namespace leasehold
