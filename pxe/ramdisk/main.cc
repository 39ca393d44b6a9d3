// leasehold-ramdisk: the program inside the platform ramdisk, as its first process or, for a
// simulated machine, below a prepared root.
#include <unistd.h>

#include <csignal>

#include "core/base/log.h"
#include "core/command_line/options.h"
#include "core/curl/http_client.h"
#include "pxe/ramdisk/init.h"
#include "pxe/ramdisk/ramdisk.h"

int main(int argc, char** argv) {
  std::string root_folder = "/";
  std::optional<int> exit_code = leasehold::parse_options(
      argc, argv,
      "Joins the site's gateway as the platform ramdisk of one run and does its commands.",
      {{"--root", "Folder under which /proc, /sys, /dev and /etc are read", &root_folder, false}});
  if (exit_code) return *exit_code;

  std::signal(SIGPIPE, SIG_IGN);
  leasehold::Sysroot root(root_folder);
  bool first_process = ::getpid() == 1;
  if (first_process) leasehold::become_init(root);
  leasehold::log_line(leasehold::LogEvent::kProgramStarted, {{"program", "leasehold-ramdisk"}});

  leasehold::CurlEasyClient http;
  leasehold::SystemClock clock;
  leasehold::SystemRandom random;
  leasehold::Ramdisk ramdisk(root, http, clock, random);
  leasehold::Status ended = ramdisk.run();
  leasehold::log_line(leasehold::LogEvent::kProgramFailed, {{"message", ended.error().text()}});
  if (first_process) leasehold::wait_for_power_off();
  return 1;
}
