// `leasehold`, the operator's command line. Exit codes: 0 done, 1 refused or failed, 2 usage.
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "coordinator/cli/command.h"
#include "coordinator/cli/terminal.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // whoever reads may stop: `leasehold events --follow | head`
  leasehold::SystemClock clock;
  const bool somebody = ::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0;
  leasehold::Console console{std::cout,
                             std::cerr,
                             somebody ? &std::cin : nullptr,
                             leasehold::terminal_width(STDOUT_FILENO),
                             false,
                             clock};
  return leasehold::run_command_line(argc, argv, console);
}
