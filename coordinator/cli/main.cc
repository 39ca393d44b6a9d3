// `leasehold`, the operator's command line: noun, verb, options. Exit codes: 0 done, 1 refused, 2
// usage. Each noun adds itself below.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "coordinator/cli/ca_command.h"
#include "coordinator/cli/command.h"
#include "coordinator/cli/evidence_command.h"

int main(int argc, char** argv) {
  CLI::App app("Leases whole machines, and takes them back.", "leasehold");
  app.require_subcommand(1);
  leasehold::add_ca_command(app);
  leasehold::add_evidence_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::RuntimeError& finished) {  // the command has said what was wrong
    return finished.get_exit_code();
  } catch (const CLI::ParseError& problem) {
    std::fprintf(stderr, "leasehold: %s; see: leasehold --help\n", problem.what());
    return leasehold::kExitUsage;
  }
  return leasehold::kExitDone;
}
