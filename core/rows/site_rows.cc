#include "core/rows/site_rows.h"

#include <array>

#include "core/base/clock.h"

namespace leasehold {
namespace {

constexpr std::array<std::string_view, 7> kStates = {"enrolling", "ready",  "deploying", "deployed",
                                                     "releasing", "failed", "retired"};

Result<std::optional<std::string>> optional_string(const Json& object, const std::string& key) {
  if (json_member(object, key).is_null()) return std::optional<std::string>();
  return std::optional<std::string>(TRY(json_string(object, key)));
}

}  // namespace

std::string_view node_state_name(NodeState state) { return kStates[static_cast<size_t>(state)]; }

Result<NodeState> node_state_from(const std::string& name) {
  for (size_t i = 0; i < kStates.size(); ++i) {
    if (kStates[i] == name) return static_cast<NodeState>(i);
  }
  return Error(Code::kInvalidInput, "\"" + name + "\" is not a node state", "state");
}

std::string_view trust_name(Trust trust) {
  return trust == Trust::kPlatform ? "platform" : "tenant-controlled";
}

Result<NodeRow> NodeRow::parse(const Json& row) {
  NodeRow node;
  node.id = TRY(NodeId::parse(TRY(json_string(row, "node")), "node"));
  node.site = TRY(json_string(row, "site"));
  node.pool = PoolId(TRY(json_string(row, "pool")));
  node.state = TRY(node_state_from(TRY(json_string(row, "state"))));
  node.failed_from = TRY(json_string_or(row, "failedFrom", ""));
  node.maintenance = TRY(json_bool(row, "maintenance"));
  // Anything but the word itself is not platform trust.
  node.trust =
      TRY(json_string(row, "trust")) == "platform" ? Trust::kPlatform : Trust::kTenantControlled;
  node.generation = TRY(json_int(row, "generation"));
  node.fenced_run = TRY(json_string_or(row, "fencedRun", ""));
  node.tenant_root = TRY(json_bool(row, "tenantRoot"));
  node.release_wipe = TRY(json_string_or(row, "releaseWipe", ""));
  node.role = TRY(json_string_or(row, "role", ""));
  node.hardware_key = TRY(json_string_or(row, "hardwareKey", ""));
  node.power_off_owed = TRY(json_bool(row, "powerOffOwed"));
  node.off_read_at = TRY(json_string_or(row, "offReadAt", ""));
  node.lease = LeaseId(TRY(json_string_or(row, "lease", "")));
  node.clean_run = TRY(json_string_or(row, "cleanRun", ""));
  Json bmc = TRY(json_object(row, "bmc"));
  node.bmc_url = TRY(json_string(bmc, "url"));
  node.bmc_user = TRY(json_string(bmc, "user"));
  node.bmc_tls_pin = TRY(json_string(bmc, "tlsPin"));
  node.bmc_tls_pin_from = TRY(json_string_or(bmc, "tlsPinFrom", "given"));
  node.driver = json_text(json_member(row, "driver"), "name");
  node.driver_reason = json_text(json_member(row, "driver"), "reason");
  node.boot_mac = TRY(json_string(row, "bootMac"));
  node.disks = TRY(json_array(row, "disks"));
  node.gpus = TRY(json_array(row, "gpus"));
  node.inventory = json_member(row, "inventory");
  node.claims = json_member(row, "claims");
  node.failure = json_member(row, "failure");
  return node;
}

RowChange NodeRow::change() const {
  Json row = {{"table", "node"},
              {"schema", 1},
              {"node", id.str()},
              {"site", site},
              {"pool", pool.str()},
              {"state", node_state_name(state)},
              {"failedFrom", failed_from},
              {"maintenance", maintenance},
              {"trust", trust_name(trust)},
              {"generation", generation},
              {"fencedRun", fenced_run},
              {"tenantRoot", tenant_root},
              {"releaseWipe", release_wipe},
              {"role", role},
              {"hardwareKey", hardware_key},
              {"powerOffOwed", power_off_owed},
              {"offReadAt", off_read_at},
              {"lease", lease.str()},
              {"cleanRun", clean_run},
              {"bmc",
               {{"url", bmc_url},
                {"user", bmc_user},
                {"tlsPin", bmc_tls_pin},
                {"tlsPinFrom", bmc_tls_pin_from}}},
              {"driver", {{"name", driver}, {"reason", driver_reason}}},
              {"bootMac", boot_mac},
              {"disks", disks},
              {"gpus", gpus},
              {"inventory", inventory},
              {"claims", claims},
              {"failure", failure}};
  return RowChange{"node", id.str(), std::move(row)};
}

Result<LeaseRow> LeaseRow::parse(const Json& row) {
  LeaseRow lease;
  lease.id = TRY(LeaseId::parse(TRY(json_string(row, "lease")), "lease"));
  lease.node = TRY(NodeId::parse(TRY(json_string(row, "node")), "node"));
  lease.tenant = TenantId(TRY(json_string(row, "tenant")));
  lease.generation = TRY(json_int(row, "generation"));
  lease.bound_at = TRY(json_string_or(row, "boundAt", ""));
  lease.ends_at = TRY(json_string_or(row, "endsAt", ""));
  lease.exit_generation = TRY(json_int_or(row, "exitGeneration", 0));
  lease.ended_at = TRY(json_string_or(row, "endedAt", ""));
  return lease;
}

RowChange LeaseRow::change() const {
  return RowChange{"lease", id.str(),
                   Json{{"table", "lease"},
                        {"schema", 1},
                        {"lease", id.str()},
                        {"node", node.str()},
                        {"tenant", tenant.str()},
                        {"generation", generation},
                        {"boundAt", bound_at},
                        {"endsAt", ends_at},
                        {"exitGeneration", exit_generation},
                        {"endedAt", ended_at}}};
}

Result<WorkRow> WorkRow::parse(const Json& row) {
  WorkRow work;
  work.id = TRY(WorkId::parse(TRY(json_string(row, "work")), "work"));
  work.node = TRY(NodeId::parse(TRY(json_string(row, "node")), "node"));
  work.kind = TRY(json_string(row, "kind"));
  const Json& expects = json_member(row, "expects");
  if (!expects.is_null()) {
    TRY(check_keys(expects, {"state", "lease", "run"}, "expects"));
    work.expects_state = TRY(optional_string(expects, "state"));
    work.expects_lease = TRY(optional_string(expects, "lease"));
    work.expects_run = TRY(optional_string(expects, "run"));
  }
  work.on = TRY(json_bool_or(row, "on", true));
  std::string deadline = TRY(json_string_or(row, "deadline", ""));
  if (!deadline.empty()) work.deadline_ms = TRY(parse_time(deadline));
  return work;
}

RowChange work_result_row(const WorkRow& work, const Status& outcome, const std::string& run) {
  Json row = {{"table", "work_result"},
              {"schema", 1},
              {"work", work.id.str()},
              {"node", work.node.str()},
              {"kind", work.kind},
              {"accepted", outcome.ok()},
              {"run", run},
              {"code", ""},
              {"message", ""}};
  if (!outcome.ok()) {
    row["code"] = code_name(outcome.error().code);
    row["message"] = outcome.error().message;
  }
  return RowChange{"work_result", work.id.str(), std::move(row)};
}

RowChange event_row(const std::string& id, const std::string& name, const NodeId& node,
                    int64_t at_ms, Json fields) {
  Json row = std::move(fields);
  row["table"] = "event";
  row["schema"] = 1;
  row["event"] = id;
  row["name"] = name;
  row["node"] = node.str();
  row["at"] = format_time(at_ms);
  return RowChange{"event", id, std::move(row)};
}

}  // namespace leasehold
