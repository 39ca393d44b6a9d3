// Time and chance behind interfaces, so that a simulation can own them. Nothing else in the product
// asks the system for the time or for random bytes. Implementations are thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace leasehold {

class Clock {
 public:
  virtual ~Clock() = default;
  // Milliseconds since 1970-01-01T00:00:00Z.
  virtual int64_t now_ms() = 0;
  // Milliseconds of a clock that never steps.
  virtual int64_t monotonic_ms() = 0;
  // Blocks the calling thread. The one seam through which a step's thread sleeps.
  virtual void sleep_ms(int64_t duration_ms) = 0;
};

class Random {
 public:
  virtual ~Random() = default;
  virtual std::string bytes(size_t count) = 0;
};

class SystemClock : public Clock {
 public:
  int64_t now_ms() override;
  int64_t monotonic_ms() override;
  void sleep_ms(int64_t duration_ms) override;
};

// getrandom(2); aborts if the kernel cannot give any.
class SystemRandom : public Random {
 public:
  std::string bytes(size_t count) override;
};

// "<prefix>-" and 16 random hex digits: an id that fits ids.h.
std::string random_id(Random& random, const std::string& prefix);

// RFC 3339 in UTC with milliseconds ("2026-11-29T16:31:21.004Z").
std::string format_time(int64_t time_ms);
Result<int64_t> parse_time(const std::string& text);  // of that very form; MALFORMED

}  // namespace leasehold
