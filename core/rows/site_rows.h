// Typed views of the rows a site owns, with the names of docs/protocols.md. Reading a row that the
// site itself wrote cannot fail unless the database is damaged; it is checked all the same, because
// a node whose state cannot be read must not be touched. Values only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/json.h"
#include "core/rows/row.h"

namespace leasehold {

enum class NodeState { kEnrolling, kReady, kDeploying, kDeployed, kReleasing, kFailed, kRetired };
std::string_view node_state_name(NodeState state);
Result<NodeState> node_state_from(const std::string& name);

enum class Trust { kPlatform, kTenantControlled };
std::string_view trust_name(Trust trust);

struct NodeRow {
  NodeId id;
  std::string site;
  PoolId pool;
  NodeState state = NodeState::kEnrolling;
  std::string failed_from;  // a state's name, or empty
  bool maintenance = false;
  Trust trust = Trust::kTenantControlled;
  int64_t generation = 0;
  std::string fenced_run;
  bool tenant_root = false;
  std::string release_wipe;  // "secure-erase"
  std::string role;
  std::string hardware_key;
  bool power_off_owed = false;
  std::string off_read_at;  // when an owed power-off was read, so often as is asked for; or empty
  LeaseId lease;
  std::string clean_run;  // the run whose evidence made it ready last
  std::string bmc_url;
  std::string bmc_user;
  std::string bmc_tls_pin;
  std::string bmc_tls_pin_from;  // "given" by a person, or "first-use": trusted when first seen
  std::string driver;            // chosen once, by probing; empty before, or adopted
  std::string driver_reason;
  std::string boot_mac;
  Json disks = Json::array();  // the disk manifest: entries as in docs/protocols.md section 4
  Json gpus = Json::array();   // serials
  Json inventory;              // the newest report under platform trust, or null
  Json claims;                 // what its BMC says of it: {"serial","sku","uuid","macs"}, or null
  Json failure;                // {"code","message","run","at"} or null

  static Result<NodeRow> parse(const Json& row);
  RowChange change() const;
};

struct LeaseRow {
  LeaseId id;
  NodeId node;
  TenantId tenant;
  int64_t generation = 0;
  std::string bound_at;
  std::string ends_at;
  int64_t exit_generation = 0;  // 0: not ended
  std::string ended_at;

  static Result<LeaseRow> parse(const Json& row);
  RowChange change() const;
};

// What is asked of a site. `expects` is what the intent was about; it is refused when that changed.
struct WorkRow {
  WorkId id;
  NodeId node;
  std::string kind;  // "release", "recover", "maintenance", "quarantine", ...
  std::optional<std::string> expects_state;
  std::optional<std::string> expects_lease;
  std::optional<std::string> expects_run;
  bool on = true;           // maintenance
  int64_t deadline_ms = 0;  // 0: none

  static Result<WorkRow> parse(const Json& row);
};

RowChange work_result_row(const WorkRow& work, const Status& outcome, const std::string& run);
// An event for people: key and time are made here. `fields` is merged in.
RowChange event_row(const std::string& id, const std::string& name, const NodeId& node,
                    int64_t at_ms, Json fields);

}  // namespace leasehold
