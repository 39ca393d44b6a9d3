#include "simsite/effects.h"

#include <signal.h>

#include <algorithm>

#include "simsite/limits.h"

namespace leasehold::simsite {

EffectLog::EffectLog(Clock& clock, std::function<void(pid_t)> kill_process)
    : clock_(clock), kill_(std::move(kill_process)) {}

int64_t EffectLog::add(const std::string& machine, const std::string& what) {
  LEASEHOLD_CHECK(effects_.size() < kEffects, "the simulated site had too many effects");
  int64_t n = static_cast<int64_t>(effects_.size()) + 1;
  effects_.push_back({n, machine, what, clock_.now_ms()});
  for (const KillPlan& plan : plans_) {
    if (plan.effect == n) kill_(plan.pid);
  }
  plans_.erase(std::remove_if(plans_.begin(), plans_.end(),
                              [&](const KillPlan& plan) { return plan.effect == n; }),
               plans_.end());
  return n;
}

Status EffectLog::plan_kill(int64_t pid, int64_t effect) {
  if (pid <= 1 || pid > INT32_MAX) {
    return Error(Code::kInvalidInput, "\"pid\" must be that of one process", "pid");
  }
  if (effect <= static_cast<int64_t>(effects_.size())) {
    return Error(Code::kConflict,
                 "effect " + std::to_string(effect) + " has passed; " +
                     std::to_string(effects_.size()) + " were applied",
                 "effect");
  }
  if (plans_.size() >= kKillPlans) return Error(Code::kTooLarge, "too many kills are planned");
  plans_.push_back({static_cast<pid_t>(pid), effect});
  return {};
}

Json EffectLog::json() const {
  Json list = Json::array();
  for (const Effect& effect : effects_) {
    list.push_back({{"n", effect.n},
                    {"machine", effect.machine},
                    {"what", effect.what},
                    {"at", format_time(effect.at_ms)}});
  }
  return list;
}

void kill_now(pid_t pid) { ::kill(pid, SIGKILL); }

}  // namespace leasehold::simsite
