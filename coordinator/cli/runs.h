// The noun `run`: what sites do to machines, as their rows tell. Reads only.
#pragma once

#include <string>

#include "coordinator/cli/session.h"

namespace leasehold {

struct RunListOptions {
  std::string site;
  std::string node;   // SITE/NODE or NODE
  std::string state;  // "open", "succeeded", "failed" or ""
  size_t most = 50;
};
Status run_list(Session& session, const RunListOptions& options);
Status run_show(Session& session, const std::string& run);

// Prints each step when it is over, until the run has ended; goes on after a restart of the
// coordinator. The run as it ended (with --json only that is printed). kExitRefused if it failed.
Result<int> run_watch(Session& session, const std::string& run);
// The same, for a caller that has found the run; prints no JSON.
Result<Json> follow_run(Session& session, const Json& run);
int run_exit_code(const Json& run);

}  // namespace leasehold
