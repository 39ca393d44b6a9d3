#include "core/base/clock.h"

#include <sys/random.h>
#include <time.h>

#include <cerrno>
#include <cstdio>

#include "core/base/bytes.h"

namespace leasehold {
namespace {

int64_t read_clock_ms(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

int64_t SystemClock::now_ms() { return read_clock_ms(CLOCK_REALTIME); }
int64_t SystemClock::monotonic_ms() { return read_clock_ms(CLOCK_BOOTTIME); }

void SystemClock::sleep_ms(int64_t duration_ms) {
  if (duration_ms <= 0) return;
  timespec left{duration_ms / 1000, (duration_ms % 1000) * 1'000'000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

std::string SystemRandom::bytes(size_t count) {
  std::string out(count, '\0');
  size_t filled = 0;
  while (filled < count) {
    ssize_t got = getrandom(out.data() + filled, count - filled, 0);
    if (got < 0 && errno == EINTR) continue;
    LEASEHOLD_CHECK(got > 0, "getrandom failed");
    filled += static_cast<size_t>(got);
  }
  return out;
}

std::string random_id(Random& random, const std::string& prefix) {
  return prefix + "-" + hex_encode(random.bytes(8));
}

std::string format_time(int64_t time_ms) {
  time_t seconds = static_cast<time_t>(time_ms / 1000);
  int millis = static_cast<int>(time_ms % 1000);
  if (millis < 0) {
    millis += 1000;
    seconds -= 1;
  }
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, millis);
  return text;
}

Result<int64_t> parse_time(const std::string& text) {
  tm parts{};
  int millis = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ", &parts.tm_year, &parts.tm_mon,
                  &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &millis) != 7) {
    return Error(Code::kMalformed, "a time looks like 2026-11-29T16:31:21.004Z");
  }
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  int64_t time_ms = static_cast<int64_t>(timegm(&parts)) * 1000 + millis;
  if (format_time(time_ms) != text) {
    return Error(Code::kMalformed, "a time looks like 2026-11-29T16:31:21.004Z");
  }
  return time_ms;
}

}  // namespace leasehold
