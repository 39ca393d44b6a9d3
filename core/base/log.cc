#include "core/base/log.h"

#include <unistd.h>

#include <array>
#include <mutex>
#include <vector>

#include "core/base/clock.h"

namespace leasehold {
namespace {

struct Entry {
  std::string_view name;
  std::string_view level;
  std::string_view meaning;
};

constexpr std::array kEntries = {
#define LEASEHOLD_ENTRY(enumerator, name, level, meaning) Entry{name, level, meaning},
    LEASEHOLD_LOG_EVENTS(LEASEHOLD_ENTRY)
#undef LEASEHOLD_ENTRY
};

// The one piece of process-wide state: a log line can come from any thread, and a secret that one
// part learned must not leave through another.
std::mutex scrub_mutex;
std::vector<std::string>& scrub_list() {
  static std::vector<std::string> list;
  return list;
}

const Entry& entry(LogEvent event) { return kEntries[static_cast<size_t>(event)]; }

}  // namespace

std::string_view log_event_name(LogEvent event) { return entry(event).name; }
std::string_view log_event_meaning(LogEvent event) { return entry(event).meaning; }

void log_scrub(const std::string& secret) {
  if (secret.size() < 4) return;
  std::lock_guard lock(scrub_mutex);
  for (const std::string& known : scrub_list()) {
    if (known == secret) return;
  }
  scrub_list().push_back(secret);
}

std::string scrubbed(std::string text) {
  std::lock_guard lock(scrub_mutex);
  for (const std::string& secret : scrub_list()) {
    for (size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + 8)) {
      text.replace(at, secret.size(), "[secret]");
    }
  }
  return text;
}

void log_line(LogEvent event, Json fields) {
  SystemClock clock;
  if (!fields.is_object()) fields = Json{{"value", fields}};
  fields["at"] = format_time(clock.now_ms());
  fields["event"] = entry(event).name;
  fields["level"] = entry(event).level;
  std::string line = scrubbed(dump_json(fields)) + "\n";
  // One write per line, so that lines of several threads and processes never mix.
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace leasehold
