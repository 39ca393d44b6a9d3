#include "coordinator/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "core/base/clock.h"

namespace leasehold {
namespace {

std::tm local(int64_t time_ms) {
  const std::time_t seconds = time_ms / 1000;
  std::tm out{};
  ::localtime_r(&seconds, &out);
  return out;
}

std::string formatted(const char* form, const std::tm& time) {
  char text[64];
  return std::string(text, std::strftime(text, sizeof(text), form, &time));
}

}  // namespace

size_t terminal_width(int fd) {
  constexpr size_t kUsual = 80;
  if (::isatty(fd) == 0) return 0;
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const long given = columns == nullptr ? 0 : std::strtol(columns, nullptr, 10);
  return given > 0 && given < 10'000 ? static_cast<size_t>(given) : kUsual;
}

std::string local_time(const std::string& rfc3339, int64_t now_ms) {
  const Result<int64_t> instant = parse_time(rfc3339);
  if (!instant.ok()) return rfc3339;
  const std::tm then = local(instant.value());
  const std::tm now = local(now_ms);
  if (then.tm_year != now.tm_year) return formatted("%Y-%m-%d", then);
  return formatted(then.tm_yday == now.tm_yday ? "%H:%M:%S" : "%m-%d %H:%M", then);
}

std::string local_time_long(const std::string& rfc3339) {
  const Result<int64_t> instant = parse_time(rfc3339);
  return instant.ok() ? formatted("%Y-%m-%d %H:%M:%S %Z", local(instant.value())) : rfc3339;
}

std::string duration_text(int64_t duration_ms) {
  const int64_t seconds = duration_ms / 1000;
  if (duration_ms < 1000) return std::to_string(duration_ms) + " ms";
  if (seconds < 10) {
    return std::to_string(seconds) + "." + std::to_string(duration_ms % 1000 / 100) + " s";
  }
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 7200) {
    return std::to_string(seconds / 60) + "m " + std::to_string(seconds % 60) + "s";
  }
  if (seconds < 48 * 3600) {
    return std::to_string(seconds / 3600) + "h " + std::to_string(seconds % 3600 / 60) + "m";
  }
  return std::to_string(seconds / 86400) + "d";
}

std::string time_between(const std::string& from, const std::string& to) {
  const Result<int64_t> first = parse_time(from);
  const Result<int64_t> second = parse_time(to);
  if (!first.ok() || !second.ok() || second.value() < first.value()) return "";
  return duration_text(second.value() - first.value());
}

}  // namespace leasehold
