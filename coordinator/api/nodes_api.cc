// Nodes as operators see them: the site's row, the coordinator's own admin row, and what became of
// the newest evidence. And what an operator changes of a node without asking its site.
#include <algorithm>

#include "coordinator/api/node_views.h"
#include "coordinator/api/routes.h"
#include "coordinator/limits.h"
#include "coordinator/store/site_rows.h"
#include "core/base/ids.h"

namespace leasehold {
namespace {

constexpr int64_t kRunsShown = 10;

// "site,node" of the last item.
std::pair<std::string, std::string> split_cursor(const std::string& cursor) {
  const size_t comma = std::min(cursor.find(','), cursor.size());
  return {cursor.substr(0, comma), comma < cursor.size() ? cursor.substr(comma + 1) : ""};
}

Result<Reply> list_nodes(const CentreContext&, Sql& sql, Call& call) {
  Page page = TRY(page_of(call));
  store::NodeQuery query;
  query.site = call.text("site");
  query.pool = call.text("pool");
  query.state = call.text("state");
  std::tie(query.after_site, query.after_node) = split_cursor(page.after);
  query.limit = page.limit + 1;
  std::vector<store::NodeKey> keys = TRY(store::list_nodes(sql, query));
  std::vector<Json> items;
  for (const store::NodeKey& key : keys) items.push_back(TRY(node_json(sql, key)));
  return reply(page_json(std::move(items), page, [](const Json& item) {
    return json_text(item, "site") + "," + json_text(item, "node");
  }));
}

Result<Json> newest_runs(Sql& sql, const store::NodeKey& key) {
  store::RunQuery query;
  query.site = key.site;
  query.node = key.node;
  query.limit = kRunsShown;
  Json runs = Json::array();
  for (const store::RunKey& run : TRY(store::list_runs(sql, query))) {
    runs.push_back(TRY(run_json(sql, run)));
  }
  return runs;
}

Result<Reply> get_node(const CentreContext&, Sql& sql, Call& call) {
  store::NodeKey key = TRY(need_node(sql, call.args[0], call.args[1]));
  Json node = TRY(node_json(sql, key));
  Json row = TRY(store::site_row(sql, key.site, "node", key.node));
  node["disks"] = json_member(row, "disks");
  node["gpus"] = json_member(row, "gpus");
  node["bmcUrl"] = json_text(json_member(row, "bmc"), "url");
  node["bootMac"] = json_text(row, "bootMac");
  node["runs"] = TRY(newest_runs(sql, key));
  return reply(std::move(node));
}

Result<Json> checked_taints(const Json& body) {
  Json taints = TRY(json_array(body, "taints"));
  if (taints.size() > limits::kTaints) {
    return Error(Code::kInvalidInput, "a node has at most 64 taints", "taints");
  }
  for (const Json& taint : taints) {
    const bool good = taint.is_string() && !taint.get_ref<const std::string&>().empty() &&
                      taint.get_ref<const std::string&>().size() <= limits::kLabelBytes;
    if (!good) return Error(Code::kInvalidInput, "a taint is a text of 1 to 128", "taints");
  }
  return taints;
}

Result<Json> checked_labels(const Json& body) {
  Json labels = TRY(json_object(body, "labels"));
  if (labels.size() > limits::kLabels) {
    return Error(Code::kInvalidInput, "a node has at most 64 labels", "labels");
  }
  for (const auto& [name, value] : labels.items()) {
    const bool good = value.is_string() && !name.empty() && name.size() <= limits::kLabelBytes &&
                      value.get_ref<const std::string&>().size() <= limits::kLabelBytes;
    if (good) continue;
    return Error(Code::kInvalidInput, "a label is a name and a text, 128 characters at most",
                 "labels." + name.substr(0, 64));
  }
  return labels;
}

Status change_admin(const Json& body, Json& row) {
  TRY(check_keys(body, {"cordon", "taints", "labels", "location"}, "a node's change"));
  if (body.empty()) return Error(Code::kInvalidInput, "it changes nothing");
  if (body.contains("cordon")) row["cordon"] = TRY(json_bool(body, "cordon"));
  if (body.contains("taints")) row["taints"] = TRY(checked_taints(body));
  if (body.contains("labels")) row["labels"] = TRY(checked_labels(body));
  if (!body.contains("location")) return {};
  const std::string location = TRY(json_string(body, "location"));
  if (location.size() > limits::kReasonBytes) {
    return Error(Code::kInvalidInput, "a location has at most 500 characters", "location");
  }
  row["location"] = location;
  return {};
}

Result<Reply> patch_node(const CentreContext&, Sql& sql, Call& call) {
  store::NodeKey key = TRY(need_node(sql, call.args[0], call.args[1]));
  Json row = TRY(store::site_row(sql, key.site, "node_admin", key.node));
  if (row.is_null()) {
    return Error(Code::kUnavailable, "the node's own row is still being pulled back; try again");
  }
  TRY(change_admin(call.body, row));
  TRY(store::tell_site(sql, key.site, {"node_admin", key.node, std::move(row)}, call.touched));
  Json node = TRY(node_json(sql, key));
  return reply(std::move(node));
}

}  // namespace

std::vector<Route> node_routes() {
  return {{"GET", "/v1/nodes", MayCall::kOperator, "site pool state limit after", list_nodes},
          {"GET", "/v1/nodes/*/*", MayCall::kOperator, "", get_node},
          {"PATCH", "/v1/nodes/*/*", MayCall::kOperator, "", patch_node}};
}

}  // namespace leasehold
