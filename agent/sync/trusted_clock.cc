#include "agent/sync/trusted_clock.h"

#include <sys/timex.h>

#include <cstdlib>

#include "core/base/files.h"
#include "core/base/limits.h"

namespace leasehold {

KernelClock KernelClock::system() {
  KernelClock kernel;
  Result<std::string> id = read_file("/proc/sys/kernel/random/boot_id", 64);
  if (id.ok()) kernel.boot_id = id.value().substr(0, id.value().find('\n'));
  kernel.synchronised = [] {
    timex state{};
    int verdict = ::adjtimex(&state);
    return verdict >= 0 && verdict != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
  };
  return kernel;
}

void TrustedClock::heard(int64_t coordinator_ms, int64_t monotonic_ms) {
  std::lock_guard lock(mutex_);
  heard_ = Heard{coordinator_ms, monotonic_ms, kernel_.boot_id};
}

std::optional<int64_t> TrustedClock::now_ms() const {
  int64_t wall_ms = clock_.now_ms();
  std::lock_guard lock(mutex_);
  bool this_boot = heard_ && !kernel_.boot_id.empty() && heard_->boot_id == kernel_.boot_id;
  if (this_boot) {
    int64_t expected_ms = heard_->coordinator_ms + clock_.monotonic_ms() - heard_->monotonic_ms;
    if (std::llabs(wall_ms - expected_ms) > limits::kTrustedClockMs) return std::nullopt;
    return expected_ms;
  }
  // Before what was heard last it cannot be, whoever says so.
  if (heard_ && wall_ms < heard_->coordinator_ms - limits::kTrustedClockMs) return std::nullopt;
  if (!kernel_.synchronised()) return std::nullopt;
  return wall_ms;
}

Json TrustedClock::row() const {
  std::lock_guard lock(mutex_);
  if (!heard_) return nullptr;
  return Json{{"table", "site_state"},
              {"schema", 1},
              {"name", kRow},
              {"time", format_time(heard_->coordinator_ms)},
              {"monotonicMs", heard_->monotonic_ms},
              {"boot", heard_->boot_id}};
}

void TrustedClock::restore(const Json& row) {
  Result<int64_t> time = parse_time(json_text(row, "time"));
  Result<int64_t> monotonic = json_int(row, "monotonicMs");
  if (!time.ok() || !monotonic.ok()) return;  // as if nothing had been heard
  std::lock_guard lock(mutex_);
  heard_ = Heard{time.value(), monotonic.value(), json_text(row, "boot")};
}

}  // namespace leasehold
