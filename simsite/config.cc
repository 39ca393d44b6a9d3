#include "simsite/config.h"

#include <filesystem>
#include <set>

#include "core/base/files.h"
#include "core/base/ids.h"
#include "simsite/limits.h"

namespace leasehold::simsite {
namespace {

// Absolute, because machines see these paths from elsewhere.
Result<std::string> json_path(const Json& json, const std::string& key) {
  std::string path = TRY(json_string(json, key));
  if (path.empty()) return Error(Code::kInvalidInput, "\"" + key + "\" must be a path", key);
  return std::filesystem::absolute(path).lexically_normal().string();
}

Result<DiskConfig> parse_disk(const Json& json) {
  TRY(check_keys(json, {"serial", "wwn", "model", "size_mib", "content"}, "a disk"));
  DiskConfig disk;
  disk.serial = TRY(json_string(json, "serial"));
  disk.wwn = TRY(json_string_or(json, "wwn", ""));
  disk.model = TRY(json_string_or(json, "model", "SIM NVMe Disk"));
  disk.size_mib = TRY(json_int_or(json, "size_mib", disk.size_mib));
  if (!is_file_name(disk.serial) || disk.serial.size() > 20) {
    return Error(Code::kInvalidInput, "a disk serial is 1 to 20 of A-Z, a-z, 0-9, '-', '_', '.'",
                 "serial");
  }
  if (disk.size_mib < 1 || disk.size_mib > kDiskMib) {
    return Error(Code::kInvalidInput, "size_mib must be 1 to " + std::to_string(kDiskMib),
                 "size_mib");
  }
  std::string content = TRY(json_string_or(json, "content", "blank"));
  if (content != "tenant" && content != "blank") {
    return Error(Code::kInvalidInput, "content must be \"tenant\" or \"blank\"", "content");
  }
  disk.tenant_content = content == "tenant";
  return disk;
}

Result<GpuConfig> parse_gpu(const Json& json) {
  TRY(check_keys(json, {"serial", "uuid", "pci", "vbios"}, "a GPU"));
  GpuConfig gpu;
  gpu.serial = TRY(json_string(json, "serial"));
  gpu.uuid = TRY(json_string(json, "uuid"));
  gpu.pci = TRY(json_string(json, "pci"));
  gpu.vbios = TRY(json_string_or(json, "vbios", "96.00.74.00.01"));
  return gpu;
}

bool is_mac(const std::string& text) {
  if (text.size() != 17) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    bool hex = std::string_view("0123456789abcdef").find(text[i]) != std::string_view::npos;
    if (i % 3 == 2 ? text[i] != ':' : !hex) return false;
  }
  return true;
}

Status parse_bmc(const Json& json, MachineConfig& machine) {
  Json bmc = TRY(json_object(json, "bmc"));
  TRY(check_keys(bmc, {"user", "password_file", "change_required"}, "\"bmc\""));
  machine.bmc_change_required = TRY(json_bool_or(bmc, "change_required", false));
  machine.bmc_user = TRY(json_string(bmc, "user"));
  std::string path = TRY(json_string(bmc, "password_file"));
  machine.bmc_password = TRY(read_secret_file(path, kPasswordBytes));
  int64_t port = TRY(json_int_or(json, "bmc_port", 0));
  if (port < 0 || port > 65535) {
    return Error(Code::kInvalidInput, "bmc_port must be 0 to 65535", "bmc_port");
  }
  machine.bmc_port = static_cast<uint16_t>(port);
  return {};
}

Status parse_hardware(const Json& json, MachineConfig& machine) {
  for (const Json& disk : json_member(json, "disks")) {
    machine.disks.push_back(TRY(parse_disk(disk)));
  }
  for (const Json& gpu : json_member(json, "gpus")) {
    machine.gpus.push_back(TRY(parse_gpu(gpu)));
  }
  if (machine.disks.size() > kDisksPerMachine || machine.gpus.size() > kGpusPerMachine) {
    return Error(Code::kInvalidInput, "too many disks or GPUs", "disks");
  }
  std::set<std::string> serials;
  for (const DiskConfig& disk : machine.disks) {
    if (!serials.insert(disk.serial).second) {
      return Error(Code::kInvalidInput, "two disks have the serial " + disk.serial, "disks");
    }
  }
  for (const auto& [id, version] : json_member(json, "firmware").items()) {
    if (!version.is_string() || !is_file_name(id)) {
      return Error(Code::kInvalidInput, "firmware holds \"id\": \"version\" pairs", "firmware");
    }
    machine.firmware[id] = version.get<std::string>();
  }
  return {};
}

Status parse_behaviour(const Json& json, MachineConfig& machine) {
  std::string profile = TRY(json_string_or(json, "profile", "generic"));
  if (profile != "generic") {
    return Error(Code::kInvalidInput, "the only profile is \"generic\"", "profile");
  }
  std::string power = TRY(json_string_or(json, "power", "Off"));
  if (power != "On" && power != "Off") {
    return Error(Code::kInvalidInput, "power must be \"On\" or \"Off\"", "power");
  }
  machine.power_on = power == "On";
  const Json& delays = json_member(json, "delays");
  if (!delays.is_null()) {
    TRY(check_keys(delays, {"power_ms", "boot_ms"}, "\"delays\""));
    machine.power_ms = TRY(json_int_or(delays, "power_ms", 0));
    machine.boot_ms = TRY(json_int_or(delays, "boot_ms", 0));
  }
  for (const Json& rule : json_member(json, "faults")) {
    machine.faults.push_back(TRY(parse_fault_rule(rule)));
  }
  return {};
}

Result<MachineConfig> parse_machine(const Json& json) {
  TRY(check_keys(json,
                 {"name", "mac", "bmc_port", "bmc", "profile", "power", "disks", "gpus", "firmware",
                  "delays", "faults"},
                 "a machine"));
  MachineConfig machine;
  machine.name = TRY(json_string(json, "name"));
  if (!is_valid_id(machine.name)) {
    return Error(Code::kInvalidInput, "a machine's name is 1 to 63 of a-z, 0-9 and '-'", "name");
  }
  machine.mac = TRY(json_string(json, "mac"));
  if (!is_mac(machine.mac)) {
    return Error(Code::kInvalidInput, "a MAC is six pairs of lower-case hex digits and ':'", "mac");
  }
  TRY(parse_bmc(json, machine));
  TRY(parse_hardware(json, machine));
  TRY(parse_behaviour(json, machine));
  return machine;
}

}  // namespace

bool is_file_name(const std::string& text) {
  if (text.empty() || text.size() > 128 || text == "." || text == "..") return false;
  return text.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") ==
         std::string::npos;
}

Result<SiteConfig> parse_site_config(const Json& json) {
  TRY(check_keys(json,
                 {"state_dir", "control_socket", "ramdisk_program", "shims_dir", "image_dir",
                  "boot_url", "machines"},
                 "the configuration"));
  SiteConfig site;
  site.state_dir = TRY(json_path(json, "state_dir"));
  site.control_socket = TRY(json_path(json, "control_socket"));
  site.ramdisk_program = TRY(json_path(json, "ramdisk_program"));
  site.shims_dir = TRY(json_path(json, "shims_dir"));
  site.image_dir = TRY(json_path(json, "image_dir"));
  site.boot_url = TRY(json_string(json, "boot_url"));
  while (!site.boot_url.empty() && site.boot_url.back() == '/') site.boot_url.pop_back();
  Json machines = TRY(json_array(json, "machines"));
  if (machines.size() > kMachines) {
    return Error(Code::kInvalidInput, "more than " + std::to_string(kMachines) + " machines",
                 "machines");
  }
  std::set<std::string> names;
  for (size_t i = 0; i < machines.size(); ++i) {
    std::string where = "machines[" + std::to_string(i) + "]";
    MachineConfig machine = TRY_WITH(parse_machine(machines[i]), where);
    if (!names.insert(machine.name).second || !names.insert(machine.mac).second) {
      return Error(Code::kInvalidInput, where + " repeats a name or a MAC", "machines");
    }
    site.machines.push_back(std::move(machine));
  }
  return site;
}

}  // namespace leasehold::simsite
