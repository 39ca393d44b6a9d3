// Runs one command of the agent on this machine and makes its signed result. Owned by main(), used
// by the main thread, blocks for as long as the work takes. A command that was done is never done
// again: its kept result is given once more, byte for byte.
#pragma once

#include <deque>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/evidence/result_verifier.h"
#include "pxe/ramdisk/gateway_client.h"
#include "pxe/ramdisk/sysroot.h"

namespace leasehold {

class Executor {
 public:
  Executor(const Sysroot& root, const RamdiskIdentity& identity, Clock& clock)
      : root_(root), identity_(identity), clock_(clock) {}

  // The body for POST /v1/results. UNSUPPORTED (an unknown verb) and INVALID_INPUT (its args) make
  // no result: nothing was done, and nothing is said about the machine.
  Result<std::string> run(const Command& command);

 private:
  struct Outcome {
    ResultKind kind = ResultKind::kInventory;
    std::vector<Subject> subjects;
    Json body;
  };
  Result<Outcome> perform(const Command& command, ResultHead& head);
  const std::string* kept(const std::string& id) const;

  const Sysroot& root_;
  const RamdiskIdentity& identity_;
  Clock& clock_;
  std::deque<std::pair<std::string, std::string>> kept_;
};

}  // namespace leasehold
