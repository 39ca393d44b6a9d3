// One libuv loop and its thread: servers, timers, the engine. Everything but post() and stop() is
// called on the loop's thread. Owned by main(), and destroyed after all that lives on it. A program
// with a loop ignores SIGPIPE.
#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace leasehold {

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run();   // until stop()
  void stop();  // any thread
  // Runs `task` on the loop's thread soon, in order of posting. Any thread.
  void post(std::function<void()> task);
  // One shot. The returned id can cancel it until it fired.
  uint64_t after(int64_t delay_ms, std::function<void()> task);
  void cancel(uint64_t timer);
  // stop() on SIGTERM and SIGINT.
  void stop_on_signals();
  uv_loop_t* raw() { return &loop_; }

 private:
  struct Impl;
  uv_loop_t loop_;
  Impl* impl_;
};

}  // namespace leasehold
