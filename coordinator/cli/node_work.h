// The verbs of `node` that ask a site to do something: each writes one `work` row through the
// coordinator and, unless told otherwise, waits for the site's answer. The site does it whether or
// not anybody waits.
#pragma once

#include <string>

#include "coordinator/cli/session.h"

namespace leasehold {

struct NodeWorkOptions {
  std::string kind;  // "release", "recover", "maintenance", "quarantine", "inspect"
  std::string node;
  std::string reason;
  bool on = true;        // maintenance
  bool yes = false;      // release, recover: nobody is asked
  bool no_wait = false;  // for the site's answer
  int64_t wait_s = 60;   // how long
  bool watch = false;    // then follow the run to its end
};
// kExitRefused if a run was watched and failed. A refusal of the site is an Error with its code.
Result<int> node_work(Session& session, const NodeWorkOptions& options);

// `work show`: what became of it; waits up to `wait_s` for an answer.
Status work_show(Session& session, const std::string& work, int64_t wait_s);

}  // namespace leasehold
