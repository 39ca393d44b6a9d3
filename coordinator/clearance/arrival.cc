#include "coordinator/clearance/arrival.h"

#include "coordinator/clearance/clearance.h"
#include "coordinator/limits.h"
#include "coordinator/store/evidence.h"
#include "coordinator/store/indexes.h"
#include "coordinator/store/pools.h"
#include "coordinator/store/records.h"
#include "coordinator/store/site_rows.h"

namespace leasehold {
namespace {

constexpr const char* kPlatformTenant = "root";

Json new_admin_row(const std::string& node, const std::string& pool) {
  return {{"table", "node_admin"},
          {"schema", 1},
          {"node", node},
          {"pool", pool},
          {"owner", kPlatformTenant},
          {"cordon", false},
          {"taints", Json::array()},
          {"labels", Json::object()},
          {"location", ""}};
}

Status node_arrived(Sql& sql, Arrival& arrival, const RowChange& change) {
  TRY(store::index_node(sql, arrival.site, change.key, change.row));
  if (change.row.is_null()) return {};
  Json admin = TRY(store::site_row(sql, arrival.site, "node_admin", change.key));
  if (admin.is_null()) {
    Json row = new_admin_row(change.key, json_text(change.row, "pool"));
    TRY(store::tell_site(sql, arrival.site, {"node_admin", change.key, std::move(row)},
                         arrival.touched));
  }
  return quarantine_if_refused(sql, arrival, change.key);
}

Status event_arrived(Sql& sql, Arrival& arrival, const RowChange& change) {
  if (change.row.is_null()) return {};
  Json event = change.row;
  for (const char* known_by_itself : {"table", "schema", "node", "site"}) {
    event.erase(known_by_itself);
  }
  arrival.touched.insert(events_topic());
  return store::add_event(sql, arrival.site, json_text(change.row, "node"), event);
}

Status work_answered(Sql& sql, Arrival& arrival, const RowChange& change) {
  if (change.row.is_null()) return {};
  TRY(store::answer_work(sql, arrival.site, change.key, arrival.now_ms));
  arrival.touched.insert(work_topic(change.key));
  return {};
}

Status pool_came_back(Sql& sql, const Arrival& arrival, const RowChange& change) {
  std::optional<store::Pool> known = TRY(store::find_pool(sql, change.key));
  store::Pool pool = known.value_or(store::Pool{});
  if (known.has_value() && pool.site != arrival.site) {
    return Error(Code::kForbidden, "pool " + change.key + " is of another site", "pool");
  }
  const int64_t revision = json_int_or(change.row, "revision", 0).value_or(0);
  if (revision <= pool.revision) return {};
  if (!known.has_value()) {
    pool.pool = change.key;
    pool.tenant = kPlatformTenant;
    pool.site = arrival.site;
    pool.hardware_class = "metal-dedicated";
  }
  pool.agent = json_text(change.row, "agent");
  pool.policy = json_member(change.row, "policy");
  pool.revision = revision;
  return store::put_pool(sql, pool, arrival.now_ms, "restored from site " + arrival.site);
}

Status profile_came_back(Sql& sql, const Arrival& arrival, const RowChange& change) {
  Json newest = TRY(store::find_profile(sql, change.key));
  const int64_t known = json_int_or(newest, "revision", 0).value_or(0);
  if (json_int_or(change.row, "revision", 0).value_or(0) <= known) return {};
  return store::add_profile(sql, change.row, arrival.now_ms, "restored from site " + arrival.site);
}

Status work_came_back(Sql& sql, const Arrival& arrival, const RowChange& change) {
  std::optional<store::Work> known = TRY(store::find_work(sql, change.key));
  if (known.has_value()) return {};
  const int64_t created = parse_time(json_text(change.row, "createdAt")).value_or(arrival.now_ms);
  return store::add_work(sql, {change.key, arrival.site, json_text(change.row, "node"),
                               json_text(change.row, "kind"), created, 0});
}

}  // namespace

Status row_arrived(Sql& sql, Arrival& arrival, const RowChange& change) {
  if (change.table == "node") return node_arrived(sql, arrival, change);
  if (change.table == "run") return store::index_run(sql, arrival.site, change.key, change.row);
  if (change.table == "event") return event_arrived(sql, arrival, change);
  if (change.table == "work_result") return work_answered(sql, arrival, change);
  if (change.table == "result") return result_arrived(sql, arrival, change);
  return {};
}

Status own_row_came_back(Sql& sql, Arrival& arrival, const RowChange& change) {
  if (change.row.is_null()) return {};
  if (change.table == "pool_policy") return pool_came_back(sql, arrival, change);
  if (change.table == "hardware_profile") return profile_came_back(sql, arrival, change);
  if (change.table == "work") return work_came_back(sql, arrival, change);
  if (change.table == "clearance") return clearance_came_back(sql, arrival, change);
  if (change.table == "receipt") return receipt_came_back(sql, arrival, change);
  return {};
}

Result<std::string> add_work(Sql& sql, Arrival& arrival, const NewWork& work) {
  const std::string id = random_id(*arrival.context.random, "w");
  Json row = {{"table", "work"},
              {"schema", 1},
              {"work", id},
              {"node", work.node},
              {"kind", work.kind},
              {"expects", work.expects},
              {"reason", work.reason},
              {"by", work.by},
              {"createdAt", format_time(arrival.now_ms)},
              {"deadline", format_time(arrival.now_ms + limits::kWorkDeadlineMs)}};
  if (work.kind == "maintenance") row["on"] = work.on;
  TRY(store::tell_site(sql, arrival.site, {"work", id, std::move(row)}, arrival.touched));
  TRY(store::add_work(sql, {id, arrival.site, work.node, work.kind, arrival.now_ms, 0}));
  return id;
}

Status tell_event(Sql& sql, Arrival& arrival, const std::string& name, const std::string& node,
                  Json fields) {
  fields["name"] = name;
  fields["at"] = format_time(arrival.now_ms);
  arrival.touched.insert(events_topic());
  return store::add_event(sql, arrival.site, node, fields);
}

}  // namespace leasehold
