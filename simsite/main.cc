// leasehold-simsite --config FILE: builds the site and runs it until SIGTERM or SIGINT.
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "core/base/files.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/command_line/options.h"
#include "core/loop/loop.h"
#include "simsite/config.h"
#include "simsite/site.h"

namespace {

using namespace leasehold;
using namespace leasehold::simsite;

Result<SiteConfig> read_config(const std::string& path) {
  Json json = TRY(read_json_file(path, limits::kConfigBytes));
  return TRY_WITH(parse_site_config(json), path);
}

Status serve(const std::string& config_path) {
  SiteConfig config = TRY(read_config(config_path));
  TRY(make_folders(config.state_dir, 0755));
  // A site.json of an earlier life would say "ready" too soon.
  ::unlink((config.state_dir + "/site.json").c_str());
  SystemClock clock;
  SystemRandom random;
  Loop loop;
  Site site(loop, clock, random, config);
  TRY(site.start());
  loop.stop_on_signals();
  log_line(LogEvent::kProgramStarted, {{"program", "leasehold-simsite"},
                                       {"machines", config.machines.size()},
                                       {"control_socket", config.control_socket}});
  loop.run();
  log_line(LogEvent::kProgramStopping, {{"program", "leasehold-simsite"}});
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  std::string config;
  std::optional<int> exit_code = parse_options(
      argc, argv, "A site that does not exist: machines with BMCs, disks, GPUs and firmware",
      {{"--config", "The site's configuration, JSON", &config, true}});
  if (exit_code) return *exit_code;
  Status served = serve(config);
  if (served.ok()) return 0;
  std::fprintf(stderr, "leasehold-simsite: %s\n", served.error().text().c_str());
  return 1;
}
