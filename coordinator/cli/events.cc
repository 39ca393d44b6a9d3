#include "coordinator/cli/events.h"

#include <algorithm>
#include <deque>
#include <ostream>
#include <utility>

namespace leasehold {
namespace {

constexpr int64_t kPollS = 20;
constexpr int64_t kAgainMs = 250;

int64_t number(const Json& object, const std::string& key) {
  return json_int_or(object, key, 0).value_or(0);
}

// The fields of an event that have no column of their own, as "key=value".
std::string details(const Json& event) {
  std::string out;
  if (!event.is_object()) return out;
  for (const auto& [key, value] : event.items()) {
    const char* shown[] = {"n", "site", "node", "name", "at", "table", "schema", "event"};
    if (std::find(std::begin(shown), std::end(shown), key) != std::end(shown)) continue;
    const std::string text = value.is_structured() ? dump_json(value) : cell_text(event, key);
    if (!text.empty()) out += (out.empty() ? "" : "  ") + key + "=" + text;
  }
  return out;
}

std::string padded(const std::string& text, size_t width) {
  const size_t own = display_width(text);
  return text + std::string(width > own ? width - own : 0, ' ') + "  ";
}

// A line of a list that has no end: columns of fixed width, the rest as far as the terminal goes.
std::string event_line(const Console& console, const Json& event) {
  const std::string node = json_text(event, "node");
  const std::string where = json_text(event, "site") + (node.empty() ? "" : "/" + node);
  std::string line = padded(console.time(json_text(event, "at")), 8) +
                     padded(shortened(harmless(where), 20, Shorten::kMiddle), 14) +
                     padded(harmless(json_text(event, "name")), 22) + harmless(details(event));
  line.erase(line.find_last_not_of(' ') + 1);
  return (console.width == 0 ? line : shortened(line, console.width, Shorten::kEnd)) + "\n";
}

void print_event(const Console& console, const Json& event) {
  if (console.json) {
    console.print_json_line(event);
  } else {
    console.print(event_line(console, event));
  }
}

// "last" of a request's query: how many of the newest, or "".
std::string newest_of(int64_t after, size_t last) {
  return after < 0 && last != 0 ? std::to_string(last) : "";
}

std::string events_path(const EventsOptions& options, int64_t after, int64_t wait_s,
                        const std::string& last = "") {
  return "/v1/events" + query_text({{"after", std::to_string(after)},
                                    {"last", last},
                                    {"wait", std::to_string(wait_s)},
                                    {"site", options.site},
                                    {"node", options.node}});
}

// Everything that is there already, or the newest of it; `after` moves to its end.
Result<std::deque<Json>> past_events(Session& session, const EventsOptions& options,
                                     int64_t& after) {
  std::deque<Json> found;
  // The coordinator counts the events of all sites: of one it cannot say where its newest begin.
  std::string last = newest_of(options.after, options.last);
  if (!options.site.empty() || !options.node.empty()) last = "";
  while (true) {
    const Json answer =
        TRY(session.api.get(events_path(options, after, 0, std::exchange(last, ""))));
    const Json page = TRY_WITH(json_array(answer, "events"), "the coordinator's events");
    for (const Json& event : page) {
      found.push_back(event);
      if (options.after < 0 && options.last != 0 && found.size() > options.last) found.pop_front();
    }
    const int64_t next = number(answer, "next");
    if (page.empty() || next <= after) {
      after = std::max(after, next);
      return found;
    }
    after = next;
  }
}

Status follow(Session& session, const EventsOptions& options, int64_t after) {
  PatientClient patient(session);
  const Console& console = session.console;
  while (console.out) {
    const int64_t begun_ms = console.clock.monotonic_ms();
    const Json answer = TRY(patient.get(events_path(options, after, kPollS), kPollS));
    const Json page = TRY_WITH(json_array(answer, "events"), "the coordinator's events");
    for (const Json& event : page) print_event(console, event);
    after = std::max(after, number(answer, "next"));
    if (page.empty() && console.clock.monotonic_ms() - begun_ms < kAgainMs) {
      console.clock.sleep_ms(kAgainMs);
    }
  }
  return {};  // whoever read it has gone
}

}  // namespace

Status events(Session& session, const EventsOptions& options) {
  if (!options.site.empty()) TRY(check_id(options.site, "--site"));
  if (!options.node.empty()) TRY(check_id(options.node, "--node"));
  const Console& console = session.console;
  int64_t after = std::max<int64_t>(options.after, 0);
  const std::deque<Json> past = TRY(past_events(session, options, after));
  if (console.json && !options.follow) {
    console.print_json({{"events", Json(past)}, {"next", after}});
    return {};
  }
  for (const Json& event : past) print_event(console, event);
  if (options.follow) return follow(session, options, after);
  if (past.empty()) console.print("no events yet\n");
  return {};
}

Status audit(Session& session, const AuditOptions& options) {
  const Console& console = session.console;
  std::deque<Json> found;
  int64_t after = std::max<int64_t>(options.after, 0);
  std::string last = newest_of(options.after, options.last);
  while (true) {
    const Query query = {
        {"limit", "1000"}, {"after", std::to_string(after)}, {"last", std::exchange(last, "")}};
    const Json answer = TRY(session.api.get("/v1/audit" + query_text(query)));
    const Json page = TRY_WITH(json_array(answer, "items"), "the coordinator's audit");
    for (const Json& row : page) {
      found.push_back(row);
      after = std::max(after, number(row, "n"));
      if (options.last != 0 && found.size() > options.last) found.pop_front();
    }
    if (page.size() < 1000) break;  // our own reading is a row too: it would never end otherwise
  }
  if (console.json) {
    console.print_json({{"items", Json(found)}, {"next", after}});
    return {};
  }
  Table table({{"N", Shorten::kNever, 0, true, false, true},
               {"AT"},
               {"WHO", Shorten::kMiddle, 14},
               {"METHOD"},
               {"PATH", Shorten::kMiddle, 16},
               {"STATUS", Shorten::kNever, 0, false, false, true},
               {"CODE", Shorten::kEnd, 8, false, true},
               {"DETAIL", Shorten::kEnd, 12, true, true}});
  for (const Json& row : found) {
    table.add({cell_text(row, "n"), console.time(json_text(row, "at")), json_text(row, "who"),
               json_text(row, "method"), json_text(row, "path"), cell_text(row, "status"),
               json_text(row, "code"), json_text(row, "detail")});
  }
  console.print_table(table, "no calls yet");
  return {};
}

}  // namespace leasehold
