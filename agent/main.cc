// leasehold-agent: one per site. `serve` is the daemon; every other verb talks to it over its local
// socket. main() builds every object in order and passes references.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "agent/command/command.h"
#include "agent/serve.h"
#include "agent/vault.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/command_line/our_words.h"

namespace leasehold {
namespace {

void add_serve_command(CLI::App& app, CommandSettings& settings) {
  CLI::App* serve = app.add_subcommand("serve", "Run the agent of this site");
  auto config = std::make_shared<std::string>();
  serve->add_option("--config", *config, "Configuration file (docs/agent-config.md)")->required();
  serve->callback([&settings, config] {
    Status served = serve_site(*config);
    if (served.ok()) return;
    log_line(LogEvent::kProgramFailed,
             Json{{"code", code_name(served.error().code)}, {"message", served.error().message}});
    settings.exit_code = print_error(served.error());
  });
}

void add_vault_command(CLI::App& app, CommandSettings& settings) {
  CLI::App* vault = app.add_subcommand("vault", "The key that seals this site's secrets");
  vault->require_subcommand(1);
  CLI::App* init = vault->add_subcommand("init", "Make a new vault key file (mode 0600)");
  auto file = std::make_shared<std::string>();
  init->add_option("FILE", *file)->required();
  init->callback([&settings, file] {
    SystemRandom random;
    Status made = Vault::create_key_file(*file, random);
    if (!made.ok()) settings.exit_code = print_error(made.error());
  });
}

int run(int argc, char** argv) {
  CLI::App app{"leasehold-agent: takes machines back from tenants with root, and proves it"};
  app.require_subcommand(1);
  use_our_words(app);
  app.fallthrough();
  CommandSettings settings;
  const char* from_environment = std::getenv("LEASEHOLD_AGENT_SOCKET");
  settings.socket_path =
      from_environment != nullptr ? from_environment : "/run/leasehold/agent.sock";
  app.add_option("--socket", settings.socket_path,
                 "The agent's local socket (or LEASEHOLD_AGENT_SOCKET)");
  app.add_flag("--json", settings.json, "Print JSON");
  add_serve_command(app, settings);
  add_vault_command(app, settings);
  add_site_command(app, settings);
  add_status_command(app, settings);
  add_enrol_command(app, settings);
  add_node_command(app, settings);
  add_rows_command(app, settings);
  add_run_command(app, settings);
  add_evidence_command(app, settings);
  add_explain_command(app, settings);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return settings.exit_code;
}

}  // namespace
}  // namespace leasehold

int main(int argc, char** argv) {
  umask(027);
  return leasehold::run(argc, argv);
}
