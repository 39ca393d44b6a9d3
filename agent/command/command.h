// `leasehold-agent`'s verbs for a technician at the site: they talk to the running agent over its
// local socket. Each returns the exit code: 0 done, 1 refused or failed (one clear line on stderr).
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/base/result.h"

namespace leasehold {

// Prints an error as one line, what to do next beneath it, and gives the exit code 1.
int print_error(const Error& error);

// Each adds its noun to `app`; a verb that was called leaves its exit code in `exit_code`.
struct CommandSettings {
  std::string socket_path;
  bool json = false;
  int exit_code = 0;
};
void add_site_command(CLI::App& app, CommandSettings& settings);
void add_status_command(CLI::App& app, CommandSettings& settings);
void add_enrol_command(CLI::App& app, CommandSettings& settings);
void add_node_command(CLI::App& app, CommandSettings& settings);
void add_rows_command(CLI::App& app, CommandSettings& settings);
void add_run_command(CLI::App& app, CommandSettings& settings);
void add_evidence_command(CLI::App& app, CommandSettings& settings);
void add_explain_command(CLI::App& app, CommandSettings& settings);

}  // namespace leasehold
