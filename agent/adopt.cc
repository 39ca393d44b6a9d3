#include "agent/intake.h"
#include "agent/machine_words.h"
#include "core/evidence/disk.h"

namespace leasehold {
namespace {

Result<NodeRow> node_from(const Json& adoption, const Json& bmc, const Json& lease,
                          const std::string& site) {
  NodeRow node;
  node.id = TRY(NodeId::parse(TRY(json_string(adoption, "node")), "node"));
  node.site = site;
  node.pool = TRY(PoolId::parse(TRY(json_string(adoption, "pool")), "pool"));
  node.state = NodeState::kDeployed;
  node.trust = Trust::kTenantControlled;
  node.generation = TRY(json_int_or(adoption, "generation", 1));
  if (node.generation < 1) {
    return Error(Code::kInvalidInput, "a generation is 1 or more", "generation");
  }
  node.tenant_root = true;
  node.release_wipe = "secure-erase";
  node.role = "dedicated";
  node.hardware_key = TRY(json_string_or(adoption, "hardwareKey", ""));
  node.lease = TRY(LeaseId::parse(TRY(json_string(lease, "lease")), "lease.lease"));
  node.bmc_url = TRY(json_string(bmc, "url"));
  node.bmc_user = TRY(json_string(bmc, "user"));
  node.bmc_tls_pin = TRY(json_string(bmc, "tlsPin"));
  node.boot_mac = TRY(json_string(adoption, "bootMac"));
  if (!is_mac(node.boot_mac)) {
    return Error(Code::kInvalidInput, "a MAC looks like 52:54:00:77:00:01", "bootMac");
  }
  node.disks = TRY(json_array(adoption, "disks"));
  DiskManifest manifest = TRY_WITH(DiskManifest::from_json(node.disks), "disks");
  if (manifest.disks.empty()) {
    return Error(Code::kInvalidInput, "the disk manifest names no disk", "disks");
  }
  node.gpus = TRY(json_array(adoption, "gpus"));
  for (const Json& gpu : node.gpus) {
    if (!gpu.is_string()) return Error(Code::kInvalidInput, "gpus is a list of serials", "gpus");
  }
  return node;
}

Status check_adoption(const Json& adoption) {
  TRY(check_keys(
      adoption,
      {"node", "pool", "generation", "hardwareKey", "lease", "bmc", "bootMac", "disks", "gpus"},
      "an adoption"));
  TRY(check_keys(json_member(adoption, "bmc"), {"url", "user", "tlsPin", "password"}, "bmc"));
  return check_keys(json_member(adoption, "lease"), {"lease", "tenant", "boundAt", "endsAt"},
                    "lease");
}

// Two nodes behind one BMC or one NIC: a teardown of one would hit the other's tenant.
Status check_unique(Sql& sql, const NodeRow& node) {
  for (const Json& row : TRY(Store::all(sql, "node"))) {
    NodeRow other = TRY(NodeRow::parse(row));
    auto taken = [&](const std::string& what, const std::string& field) {
      return Error(Code::kConflict, "node " + other.id.str() + " has this " + what + " already",
                   field);
    };
    if (other.bmc_url == node.bmc_url) return taken("BMC", "bmc.url");
    if (other.boot_mac == node.boot_mac) return taken("MAC", "bootMac");
    if (!node.hardware_key.empty() && other.hardware_key == node.hardware_key) {
      return taken("hardware key", "hardwareKey");
    }
  }
  return {};
}

}  // namespace

Result<Json> Intake::adopt(Sql& sql, const Json& adoption) {
  TRY(check_adoption(adoption));
  Json bmc = TRY(json_object(adoption, "bmc"));
  Json lease_json = TRY(json_object(adoption, "lease"));
  NodeRow node = TRY(node_from(adoption, bmc, lease_json, tools_.identity->site));
  if (!TRY(Store::get(sql, "node", node.id.str())).is_null()) {
    return Error(Code::kConflict, "node " + node.id.str() + " is known already", "node");
  }
  if (!TRY(Store::get(sql, "lease", node.lease.str())).is_null()) {
    return Error(Code::kConflict, "lease " + node.lease.str() + " is known already", "lease");
  }
  TRY(check_unique(sql, node));
  LeaseRow lease;
  lease.id = node.lease;
  lease.node = node.id;
  lease.tenant = TRY(TenantId::parse(TRY(json_string(lease_json, "tenant")), "lease.tenant"));
  lease.generation = node.generation;
  lease.bound_at = TRY(json_string_or(lease_json, "boundAt", ""));
  lease.ends_at = TRY(json_string_or(lease_json, "endsAt", ""));
  VaultVersion version = tools_.vault->version_for(node, 1, TRY(json_string(bmc, "password")));
  version.state = VersionState::kConfirmed;
  TRY(Store::put(sql, node.change()));
  TRY(Store::put(sql, lease.change()));
  TRY(Store::put(sql, version.change()));
  TRY(event(sql, "node.adopted", node, Json{{"lease", node.lease.str()}}));
  return node.change().row;
}

}  // namespace leasehold
