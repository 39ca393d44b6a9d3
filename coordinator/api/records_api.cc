// The feed of events (long poll) and the audit.
#include "coordinator/api/routes.h"
#include "coordinator/limits.h"
#include "coordinator/store/records.h"

namespace leasehold {
namespace {

constexpr int64_t kMostNumber = INT64_MAX / 2;

Result<Reply> get_events(const CentreContext&, Sql& sql, Call& call) {
  store::EventQuery query;
  query.after = TRY(call.number("after", 0, kMostNumber));
  query.limit = TRY(call.number("limit", limits::kEventsPerAnswer, limits::kEventsPerAnswer));
  query.site = call.text("site");
  query.node = call.text("node");
  if (query.limit == 0) return Error(Code::kInvalidInput, "\"limit\" is 1 or more", "limit");
  store::EventPage page = TRY(store::events_after(sql, query));
  if (page.events.empty() && call.may_wait) return reply_after(events_topic());
  return reply({{"events", std::move(page.events)}, {"next", page.next}});
}

Result<Reply> get_audit(const CentreContext&, Sql& sql, Call& call) {
  const int64_t after = TRY(call.number("after", 0, kMostNumber));
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
  return {{"GET", "/v1/events", MayCall::kOperator, "after wait site node limit", get_events},
          {"GET", "/v1/audit", MayCall::kOperator, "after limit", get_audit}};
}

}  // namespace leasehold
