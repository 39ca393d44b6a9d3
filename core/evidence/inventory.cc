#include "core/evidence/inventory.h"

#include "core/evidence/strict_object.h"

namespace leasehold {
namespace {

Result<std::string> parse_nic(const Json& json) {
  StrictObject object(json, "NIC", {"mac"});
  std::string mac = object.filled("mac");
  TRY(object.status());
  return mac;
}

}  // namespace

Result<SystemInfo> SystemInfo::from_json(const Json& json) {
  bool with_board = json.is_object() && json.contains("board_serial");
  using Members = std::initializer_list<const char*>;
  static constexpr Members kEarlier = {"manufacturer", "product", "serial", "uuid"};
  static constexpr Members kAll = {"manufacturer", "product", "serial", "uuid", "board_serial"};
  StrictObject object(json, "system", with_board ? kAll : kEarlier);
  SystemInfo info{object.text("manufacturer"), object.text("product"), object.text("serial"),
                  object.text("uuid"), with_board ? object.text("board_serial") : ""};
  TRY(object.status());
  return info;
}

Result<InventoryReport> InventoryReport::from_json(const Json& body) {
  StrictObject object(body, "inventory", {"disks", "gpus", "nics", "system"});
  InventoryReport report;
  report.disks = object.list<ManifestEntry>("disks", ManifestEntry::from_json);
  report.gpus = object.list<Gpu>("gpus", Gpu::from_json);
  report.macs = object.list<std::string>("nics", parse_nic);
  report.system = object.nested<SystemInfo>("system", SystemInfo::from_json);
  TRY(object.status());
  return report;
}

Json InventoryReport::to_json() const {
  Json disk_list = Json::array();
  for (const ManifestEntry& entry : disks) disk_list.push_back(entry.to_json());
  Json gpu_list = Json::array();
  for (const Gpu& gpu : gpus) gpu_list.push_back(gpu.to_json());
  Json nic_list = Json::array();
  for (const std::string& mac : macs) nic_list.push_back({{"mac", mac}});
  return {{"disks", disk_list},
          {"gpus", gpu_list},
          {"nics", nic_list},
          {"system",
           {{"manufacturer", system.manufacturer},
            {"product", system.product},
            {"serial", system.serial},
            {"uuid", system.uuid},
            {"board_serial", system.board_serial}}}};
}

}  // namespace leasehold
