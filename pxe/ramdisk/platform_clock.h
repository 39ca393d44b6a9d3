// The ramdisk's clock: the machine's own may say anything (a tenant set it), so the time begins
// with the gateway's signed hello and goes on with the monotonic clock. Owned by main(); any thread
// reads it, the main thread starts it.
#pragma once

#include <atomic>

#include "core/base/clock.h"

namespace leasehold {

class PlatformClock : public Clock {
 public:
  explicit PlatformClock(Clock& system) : system_(system) {}
  void start(int64_t now_ms) { offset_ms_ = now_ms - system_.monotonic_ms(); }
  // 1970 and a little before start(): a time that nothing takes for a real one.
  int64_t now_ms() override { return offset_ms_ + system_.monotonic_ms(); }
  int64_t monotonic_ms() override { return system_.monotonic_ms(); }
  void sleep_ms(int64_t duration_ms) override { system_.sleep_ms(duration_ms); }

 private:
  Clock& system_;
  std::atomic<int64_t> offset_ms_ = 0;
};

}  // namespace leasehold
