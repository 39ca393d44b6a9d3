// The command line of `leasehold`: noun, verb, options. Each noun adds its verbs in a file of its
// own; a verb that is called leaves its body in the CommandLine, which runs after parsing is over.
// The library behind it is slow to compile, so these files hold words and no logic.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "coordinator/cli/session.h"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace leasehold {

struct CommandLine {
  std::string config_file;
  bool json = false;
  std::function<Result<int>(const Console&)> chosen;
};

CLI::App* add_noun(CLI::App& app, const std::string& name, const std::string& help);
// A verb with --json, and the body that it runs: offline, or with the coordinator (then it has
// --config too).
CLI::App* add_verb(CLI::App& noun, const std::string& name, const std::string& help,
                   CommandLine& line, std::function<Result<int>(const Console&)> body);
CLI::App* add_online_verb(CLI::App& noun, const std::string& name, const std::string& help,
                          CommandLine& line, std::function<Result<int>(Session&)> body);
// For CLI::Option::check: one of these words; nothing of it is added to the help.
CLI::Validator one_of(const std::vector<std::string>& words);
CLI::Validator whole_number(int64_t least, int64_t most);
inline constexpr int64_t kMostCounted = 1'000'000;
// For bodies that return a Status.
inline Result<int> done(const Status& status) {
  if (!status.ok()) return status.error();
  return kExitDone;
}

void add_overview_commands(CLI::App& app, CommandLine& line);  // status, whoami
void add_site_command(CLI::App& app, CommandLine& line);
void add_hardware_profile_command(CLI::App& app, CommandLine& line);
void add_pool_command(CLI::App& app, CommandLine& line);
void add_node_command(CLI::App& app, CommandLine& line);
void add_run_command(CLI::App& app, CommandLine& line);
void add_work_command(CLI::App& app, CommandLine& line);
void add_evidence_command(CLI::App& app, CommandLine& line);
void add_history_commands(CLI::App& app, CommandLine& line);  // events, audit
void add_ca_command(CLI::App& app, CommandLine& line);

// The whole program: the exit code.
int run_command_line(int argc, char** argv, Console& console);

}  // namespace leasehold
