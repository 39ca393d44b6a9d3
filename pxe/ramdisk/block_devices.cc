#include "pxe/ramdisk/block_devices.h"

#include <charconv>
#include <filesystem>
#include <regex>

namespace leasehold {
namespace {

constexpr uint64_t kSysfsSectorBytes = 512;  // the unit of sys/block/*/size, whatever the disk's

bool starts_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

bool is_disk_name(const std::string& name) {
  static const std::regex kDisk("nvme[0-9]+n[0-9]+|sd[a-z]+|vd[a-z]+|mmcblk[0-9]+");
  return name.size() < 32 && std::regex_match(name, kDisk);
}

std::string transport_of(const Sysroot& root, const std::string& name, const std::string& folder) {
  if (starts_with(name, "nvme")) return "nvme";
  if (starts_with(name, "vd")) return "virtio";
  if (starts_with(name, "mmcblk")) return "mmc";
  std::error_code problem;
  std::string real = std::filesystem::canonical(root.path(folder), problem).string();
  if (!problem && real.find("/usb") != std::string::npos) return "usb";
  return root.text(folder + "/device/vendor") == "ATA" ? "sata" : "sas";
}

// SCSI disks say their serial in vital product data page 80h: four bytes of header, then text.
std::string serial_of(const Sysroot& root, const std::string& folder) {
  for (const char* file : {"/serial", "/device/serial"}) {
    std::string serial = root.text(folder + file);
    if (!serial.empty()) return serial;
  }
  std::string page = root.bytes(folder + "/device/vpd_pg80");
  if (page.size() <= 4) return "";
  return printable(trimmed(page.substr(4)), 64);
}

uint64_t capacity_of(const Sysroot& root, const std::string& folder) {
  std::string text = root.text(folder + "/size");
  uint64_t sectors = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), sectors);
  if (problem != std::errc() || end != text.data() + text.size()) return 0;
  if (sectors > (uint64_t{1} << 53)) return 0;
  return sectors * kSysfsSectorBytes;
}

std::string controller_of(const std::string& name) {
  return starts_with(name, "nvme") ? name.substr(0, name.find('n', 4)) : "";
}

// True if `device` is no disk of its own but a further path to, or namespace of, `known`.
bool same_disk(BlockDevice& known, const BlockDevice& device) {
  if (known.serial.empty() || known.serial != device.serial) return false;
  if (known.model != device.model || known.transport != device.transport) return false;
  if (!known.wwn.empty() && known.wwn == device.wwn) return true;
  if (device.transport != "nvme") return false;
  if (controller_of(known.name) != controller_of(device.name)) return false;
  known.other_namespaces.push_back(device.name);
  return true;
}

BlockDevice read_device(const Sysroot& root, const std::string& name) {
  std::string folder = "sys/block/" + name;
  BlockDevice device;
  device.name = name;
  device.path = root.path("dev/" + name);
  device.serial = serial_of(root, folder);
  device.model = root.text(folder + "/device/model");
  if (device.model.empty()) device.model = root.text(folder + "/device/name");
  device.wwn = root.text(folder + "/wwid");
  if (device.wwn.empty()) device.wwn = root.text(folder + "/device/wwid");
  device.capacity_bytes = capacity_of(root, folder);
  device.transport = transport_of(root, name, folder);
  return device;
}

}  // namespace

std::vector<BlockDevice> list_block_devices(const Sysroot& root) {
  std::vector<BlockDevice> devices;
  for (const std::string& name : root.list("sys/block")) {
    if (!is_disk_name(name) || devices.size() > limits::kRamdiskDisks) continue;
    std::string folder = "sys/block/" + name;
    if (root.text(folder + "/hidden") == "1") continue;
    BlockDevice device = read_device(root, name);
    if (device.capacity_bytes == 0) continue;
    bool known = false;
    for (BlockDevice& other : devices) known = known || same_disk(other, device);
    if (!known) devices.push_back(std::move(device));
  }
  return devices;
}

ManifestEntry manifest_entry(const BlockDevice& device, HiddenAreas hidden_areas) {
  ManifestEntry entry;
  entry.serial = device.serial.empty() ? "no-serial:" + device.name : device.serial;
  entry.wwn = device.wwn;
  entry.model = device.model;
  entry.capacity_bytes = static_cast<int64_t>(device.capacity_bytes);
  entry.transport = device.transport;
  entry.hidden_areas = hidden_areas;
  return entry;
}

}  // namespace leasehold
