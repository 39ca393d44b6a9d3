// The feed of events (long poll) and the audit.
#include <algorithm>

#include "coordinator/api/routes.h"
#include "coordinator/limits.h"
#include "coordinator/store/records.h"

namespace leasehold {
namespace {

constexpr int64_t kMostNumber = INT64_MAX / 2;

// After which number to begin: "after", or so that only the newest "last" remain of all numbers.
Result<int64_t> begin_of(const Call& call, int64_t newest) {
  const int64_t after = TRY(call.number("after", 0, kMostNumber));
  if (call.text("last").empty()) return after;
  const int64_t last = TRY(call.number("last", 0, kMostNumber));
  return std::max(after, newest - last);
}

Result<Reply> get_events(const CentreContext&, Sql& sql, Call& call) {
  store::EventQuery query;
  const int64_t newest = TRY(store::newest_event(sql));
  query.after = TRY(begin_of(call, newest));
  query.limit = TRY(call.number("limit", limits::kEventsPerAnswer, limits::kEventsPerAnswer));
  query.site = call.text("site");
  query.node = call.text("node");
  if (query.limit == 0) return Error(Code::kInvalidInput, "\"limit\" is 1 or more", "limit");
  store::EventPage page = TRY(store::events_after(sql, query));
  if (page.events.empty() && call.may_wait) return reply_after(events_topic());
  return reply({{"events", std::move(page.events)}, {"next", page.next}});
}

Result<Reply> get_audit(const CentreContext&, Sql& sql, Call& call) {
  const int64_t newest = TRY(store::newest_audit(sql));
  const int64_t after = TRY(begin_of(call, newest));
  const int64_t limit = TRY(call.number("limit", limits::kListDefault, limits::kListMost));
  std::vector<store::AuditLine> lines = TRY(store::audit_after(sql, after, limit));
  Json items = Json::array();
  for (const store::AuditLine& line : lines) {
    items.push_back({{"n", line.n},
                     {"at", format_time(line.at_ms)},
                     {"who", line.who},
                     {"method", line.method},
                     {"path", line.path},
                     {"status", line.status},
                     {"code", line.code},
                     {"detail", line.detail}});
  }
  const int64_t next = lines.empty() ? after : lines.back().n;
  return reply({{"items", std::move(items)}, {"next", next}});
}

}  // namespace

std::vector<Route> record_routes() {
  return {{"GET", "/v1/events", MayCall::kOperator, "after last wait site node limit", get_events},
          {"GET", "/v1/audit", MayCall::kOperator, "after last limit", get_audit}};
}

}  // namespace leasehold
