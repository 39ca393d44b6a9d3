// Whether this box's clock may end anything: it agrees with the last time the coordinator said plus
// CLOCK_BOOTTIME of the same boot, or, after a reboot without contact, the kernel says that it is
// synchronised. What was heard is kept in the database. Thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/json.h"

namespace leasehold {

// What the kernel says; a test says something else.
struct KernelClock {
  std::string boot_id;                 // of /proc; changes with each boot
  std::function<bool()> synchronised;  // adjtimex(2)
  static KernelClock system();
};

class TrustedClock {
 public:
  TrustedClock(Clock& clock, KernelClock kernel) : clock_(clock), kernel_(std::move(kernel)) {}

  // The coordinator's time, as it was when the monotonic clock said so much.
  void heard(int64_t coordinator_ms, int64_t monotonic_ms);
  // The time, if the clock is to be trusted; in the same boot it is the coordinator's.
  std::optional<int64_t> now_ms() const;

  // The `site_state` row of what was heard; null: nothing yet.
  Json row() const;
  void restore(const Json& row);
  static constexpr const char* kRow = "coordinator-clock";

 private:
  struct Heard {
    int64_t coordinator_ms = 0;
    int64_t monotonic_ms = 0;
    std::string boot_id;
  };
  Clock& clock_;
  KernelClock kernel_;
  mutable std::mutex mutex_;
  std::optional<Heard> heard_;
};

}  // namespace leasehold
