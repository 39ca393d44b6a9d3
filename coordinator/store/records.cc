#include "coordinator/store/records.h"

#include <algorithm>

namespace leasehold::store {

Status add_audit(Sql& sql, const AuditLine& line) {
  return sql.run(
      "INSERT INTO audit(at, who, method, path, status, code, detail) VALUES(?1, ?2, ?3, ?4, ?5, "
      "?6, ?7)",
      {line.at_ms, line.who, line.method, line.path, line.status, line.code, line.detail});
}

Result<std::vector<AuditLine>> audit_after(Sql& sql, int64_t n, int64_t limit) {
  std::vector<AuditLine> lines;
  TRY(
      sql.query("SELECT n, at, who, method, path, status, code, detail FROM audit WHERE n>?1 ORDER "
                "BY n LIMIT ?2",
                {n, limit}, [&](const SqlRow& row) {
                  lines.push_back({row.integer(0), row.integer(1), row.text(2), row.text(3),
                                   row.text(4), row.integer(5), row.text(6), row.text(7)});
                }));
  return lines;
}

Result<int64_t> newest_audit(Sql& sql) {
  int64_t newest = 0;
  TRY(sql.query("SELECT ifnull(max(n), 0) FROM audit", {},
                [&](const SqlRow& row) { newest = row.integer(0); }));
  return newest;
}

Result<int64_t> newest_event(Sql& sql) {
  int64_t newest = 0;
  TRY(sql.query("SELECT ifnull(max(n), 0) FROM central_event", {},
                [&](const SqlRow& row) { newest = row.integer(0); }));
  return newest;
}

Status add_event(Sql& sql, const std::string& site, const std::string& node, const Json& event) {
  return sql.run("INSERT INTO central_event(site, node, event) VALUES(?1, ?2, ?3)",
                 {site, node, dump_json(event)});
}

Result<EventPage> events_after(Sql& sql, const EventQuery& query) {
  EventPage page;
  page.next = TRY(newest_event(sql));
  std::string damaged;
  TRY(
      sql.query("SELECT n, site, node, event FROM central_event WHERE n>?1 AND (?2='' OR "
                "site=?2) AND (?3='' OR node=?3) ORDER BY n LIMIT ?4",
                {query.after, query.site, query.node, query.limit}, [&](const SqlRow& row) {
                  Result<Json> event = parse_own_json(row.text(3));
                  if (!event.ok() || !event.value().is_object()) {
                    damaged = std::to_string(row.integer(0));
                    return;
                  }
                  event.value()["n"] = row.integer(0);
                  event.value()["site"] = row.text(1);
                  event.value()["node"] = row.text(2);
                  page.events.push_back(std::move(event).value());
                }));
  if (!damaged.empty()) return Error(Code::kDatabase, "event " + damaged + " is damaged");
  if (static_cast<int64_t>(page.events.size()) == query.limit) {
    page.next = page.events.back()["n"].get<int64_t>();
  }
  page.next = std::max(page.next, query.after);
  return page;
}

}  // namespace leasehold::store
