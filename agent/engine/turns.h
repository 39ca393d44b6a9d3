// The engine's view of the thread that takes its turns: post and timers. The product's is the loop;
// a simulation gives one with a clock of its own. Only post() is called from other threads.
#pragma once

#include <cstdint>
#include <functional>

#include "core/loop/loop.h"

namespace leasehold {

class Turns {
 public:
  virtual ~Turns() = default;
  virtual void post(std::function<void()> task) = 0;
  virtual uint64_t after(int64_t delay_ms, std::function<void()> task) = 0;
  virtual void cancel(uint64_t timer) = 0;
};

class LoopTurns : public Turns {
 public:
  explicit LoopTurns(Loop& loop) : loop_(loop) {}
  void post(std::function<void()> task) override { loop_.post(std::move(task)); }
  uint64_t after(int64_t delay_ms, std::function<void()> task) override {
    return loop_.after(delay_ms, std::move(task));
  }
  void cancel(uint64_t timer) override { loop_.cancel(timer); }

 private:
  Loop& loop_;
};

}  // namespace leasehold
