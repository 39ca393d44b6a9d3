// The numbered list of everything that changed the simulated world: a power command, a password, a
// boot override, a tool's format. One per site; its order is the order of the world. It also holds
// the plans to kill a process exactly there: after effect N was applied and before it is answered.
// Used on the loop's thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/result.h"

namespace leasehold::simsite {

struct Effect {
  int64_t n = 0;  // 1, 2, 3, … over the whole site
  std::string machine;
  std::string what;  // "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset ForceOff"
  int64_t at_ms = 0;
};

class EffectLog {
 public:
  // `kill` is kill(2), replaceable by a test.
  EffectLog(Clock& clock, std::function<void(pid_t)> kill_process);
  EffectLog(const EffectLog&) = delete;
  EffectLog& operator=(const EffectLog&) = delete;

  // Call it when the effect is applied and not yet answered. Returns its number.
  int64_t add(const std::string& machine, const std::string& what);
  // INVALID_INPUT for a pid that is none of a single process, CONFLICT if N has passed.
  Status plan_kill(int64_t pid, int64_t effect);
  const std::vector<Effect>& all() const { return effects_; }
  Json json() const;

 private:
  struct KillPlan {
    pid_t pid;
    int64_t effect;
  };
  Clock& clock_;
  std::function<void(pid_t)> kill_;
  std::vector<Effect> effects_;
  std::vector<KillPlan> plans_;
};

// SIGKILL, and nothing else.
void kill_now(pid_t pid);

}  // namespace leasehold::simsite
