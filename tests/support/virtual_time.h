// A world with one thread and a clock of its own: turns are taken in order, steps run as turns, and
// when nothing is left to do the clock jumps to the next timer. So a run that polls for an hour
// takes a moment, and always the same way. Tests only; one thread.
#pragma once

#include <deque>
#include <functional>
#include <map>

#include "agent/engine/step_threads.h"
#include "agent/engine/turns.h"
#include "core/base/clock.h"

namespace leasehold::test {

// Within the lives of the certificates that evidence_fixture.h makes.
inline constexpr int64_t kEpochMs = 1'795'953'600'000;

class VirtualTime : public Clock, public Turns, public StepThreads {
 public:
  int64_t now_ms() override { return kEpochMs + monotonic_ms_; }
  int64_t monotonic_ms() override { return monotonic_ms_; }
  void sleep_ms(int64_t duration_ms) override { monotonic_ms_ += duration_ms; }

  void post(std::function<void()> task) override { tasks_.push_back(std::move(task)); }
  uint64_t after(int64_t delay_ms, std::function<void()> task) override {
    timers_.emplace(std::pair(monotonic_ms_ + delay_ms, ++made_), std::move(task));
    return made_;
  }
  void cancel(uint64_t timer) override {
    std::erase_if(timers_, [&](const auto& entry) { return entry.first.second == timer; });
  }

  void start(std::function<void()> task) override { post(std::move(task)); }
  void drain() override {}

  // One turn; false if nothing is left to do.
  bool turn() {
    if (tasks_.empty()) {
      if (timers_.empty()) return false;
      auto first = timers_.begin();
      monotonic_ms_ = std::max(monotonic_ms_, first->first.first);
      tasks_.push_back(std::move(first->second));
      timers_.erase(first);
    }
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
    return true;
  }
  // What a killed process would have done next.
  void forget() {
    tasks_.clear();
    timers_.clear();
  }

 private:
  int64_t monotonic_ms_ = 0;
  uint64_t made_ = 0;
  std::deque<std::function<void()>> tasks_;
  std::map<std::pair<int64_t, uint64_t>, std::function<void()>> timers_;
};

}  // namespace leasehold::test
