// leasehold-coordinator: the centre. Owns sites, pools and the certificate authority, keeps a copy
// of every site's rows, clears evidence, and answers operators.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "coordinator/serve.h"
#include "core/base/log.h"
#include "core/command_line/our_words.h"

namespace leasehold {
namespace {

int serve(const std::string& config) {
  Status served = serve_coordinator(config);
  if (served.ok()) return 0;
  log_line(LogEvent::kProgramFailed,
           Json{{"program", "leasehold-coordinator"}, {"message", served.error().text()}});
  return 1;
}

}  // namespace
}  // namespace leasehold

int main(int argc, char** argv) {
  umask(077);
  CLI::App app{"The centre of Leasehold: sites, pools, evidence, certificates."};
  app.require_subcommand(1);
  leasehold::use_our_words(app);
  CLI::App* verb = app.add_subcommand("serve", "Run the coordinator");
  std::string config;
  verb->add_option("--config", config, "Configuration file (docs/coordinator-api.md)")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& problem) {
    std::fprintf(stderr, "leasehold-coordinator: %s; see --help\n", problem.what());
    return 2;
  }
  return leasehold::serve(config);
}
