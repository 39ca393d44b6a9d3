// Runs one outside program: no shell, no inherited descriptors, stdin /dev/null, its own process
// group that is killed at the deadline, output bounded. Secrets never go into argv. Blocks the
// calling thread; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace leasehold {

struct SubprocessOptions {
  std::vector<std::string> argv;         // argv[0] is looked up on PATH
  std::vector<std::string> environment;  // "NAME=value", added to PATH, LC_ALL=C and HOME
  int64_t timeout_ms = 60'000;
};

struct SubprocessOutcome {
  int exit_code = -1;  // 128 + signal if it was killed by one
  std::string out;     // bounded by limits::kSubprocessOutputBytes
  std::string err;
};

// UNSUPPORTED if the program is not on PATH, TIMEOUT at the deadline, TOO_LARGE, IO. An exit code
// that is not zero is an outcome, not an error.
Result<SubprocessOutcome> run_subprocess(const SubprocessOptions& options);

}  // namespace leasehold
