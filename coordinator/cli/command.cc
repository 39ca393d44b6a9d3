#include "coordinator/cli/command.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace leasehold {

std::string error_line(const Error& error) {
  std::string line = "leasehold: " + error.text();
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return line;
}

void finish_command(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", error_line(status.error()).c_str());
  bool usage = status.error().code == Code::kInvalidInput;
  throw CLI::RuntimeError(usage ? kExitUsage : kExitRefused);
}

}  // namespace leasehold
