// The engine's inside: the open runs, who has them, and what happens on the loop's thread. Internal
// to the engine.
#pragma once

#include <map>
#include <mutex>

#include "agent/engine/driver.h"

namespace leasehold {

struct Engine::Impl : public RunHost, public std::enable_shared_from_this<Engine::Impl> {
  explicit Impl(Options given);
  ~Impl() override;

  // RunHost
  bool draining() const override { return draining_; }
  void forget_events(Run& run) override;
  void publish(Run& run, std::vector<RunEvent> events, std::vector<Json> notices) override;
  void wait(Run& run, int64_t delay_ms, const std::string& event, OnStop on_stop) override;
  void retire(Run& run) override;

  Status recover();
  void start(const RunId& id);   // any thread: a run that is not driven
  void resume(const RunId& id);  // loop thread: one that waits
  std::shared_ptr<Run> find(const RunId& id);

  // On the loop's thread, soon; not at all once the engine is gone.
  void later(std::function<void(Impl&)> task);
  void arm(const RunId& id, int64_t delay_ms);
  void tell(const std::vector<RunEvent>& events, const std::vector<Json>& notices);

  Result<std::vector<RunId>> count_crashes(std::map<RunId, bool>& crashed);

  Options options_;
  std::unique_ptr<LoopTurns> own_turns_;
  std::unique_ptr<StepThreads> own_threads_;
  Turns* turns_;
  StepThreads* threads_;
  CrashRecord crashes_;
  Driver driver_;
  std::atomic<bool> draining_{false};
  mutable std::mutex mutex_;
  std::map<RunId, std::shared_ptr<Run>> runs_;
};

}  // namespace leasehold
