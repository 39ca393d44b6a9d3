// The configuration of a simulated site (docs/protocols.md section 6): which machines there are and
// how each misbehaves. Read once by main(); values only. Unknown keys are refused with the nearest
// known one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "simsite/faults.h"

namespace leasehold::simsite {

struct DiskConfig {
  std::string serial;
  std::string wwn;  // as sysfs shows it: "eui.…", "nvme.…"
  std::string model;
  int64_t size_mib = 16;
  bool tenant_content = true;  // false: blank
};

struct GpuConfig {
  std::string serial;
  std::string uuid;
  std::string pci;  // "00000000:17:00.0", as nvidia-smi prints it
  std::string vbios;
};

struct MachineConfig {
  std::string name;
  std::string mac;  // lower case, colons
  uint16_t bmc_port = 0;
  std::string bmc_user;
  std::string bmc_password;  // from password_file
  bool bmc_change_required = false;
  bool power_on = false;
  std::vector<DiskConfig> disks;
  std::vector<GpuConfig> gpus;
  std::map<std::string, std::string> firmware;  // SoftwareInventory id -> version
  int64_t power_ms = 0;
  int64_t boot_ms = 0;
  std::vector<FaultRule> faults;
};

struct SiteConfig {
  std::string state_dir;
  std::string control_socket;
  std::string ramdisk_program;
  std::string shims_dir;
  std::string image_dir;
  std::string boot_url;
  std::vector<MachineConfig> machines;
};

// Reads password files too. INVALID_INPUT naming the field, CONFIG for a file.
Result<SiteConfig> parse_site_config(const Json& json);

}  // namespace leasehold::simsite
