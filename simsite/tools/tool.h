// The tools that a machine's ramdisk finds on its PATH (nvme, dcgmi, nvidia-smi): what they print
// and what they do to the machine's disks. They print what the real ones were recorded printing:
// nvme-cli 2.3 on QEMU 7.2's NVMe device, dcgmi 3.x, nvidia-smi. The shim programs only carry the
// command line here and the output back. Pure but for erase_disk.
#pragma once

#include <string>
#include <vector>

#include "simsite/config.h"
#include "simsite/disk.h"

namespace leasehold::simsite {

struct ToolResult {
  int exit = 0;
  std::string out;
  std::string err;
};

// What the tools of one machine see.
struct ToolHardware {
  std::vector<Disk> disks;
  std::vector<GpuConfig> gpus;
};

// What a command would change: nothing, the erasure of one disk, or the state of the GPUs.
struct ToolCall {
  ToolResult result;
  const Disk* erases = nullptr;
  bool resets_gpus = false;
};

// `lie` are the args of a fault rule with action "lie" on this call, or null: for dcgmi and
// nvidia-smi {"missing": serial}, {"status": "Skip" | "Fail", "test": name}, {"ecc": n}.
ToolCall run_tool(const ToolHardware& hardware, const std::vector<std::string>& argv,
                  const Json& lie);

ToolCall run_nvme(const ToolHardware& hardware, const std::vector<std::string>& argv);
ToolResult run_dcgmi(const std::vector<GpuConfig>& gpus, const std::vector<std::string>& argv,
                     const Json& lie);
bool resets_gpus(const std::vector<std::string>& argv);
ToolResult run_nvidia_smi(const std::vector<GpuConfig>& gpus, const std::vector<std::string>& argv,
                          const Json& lie);

// argv without argv[0] as options and operands: "--ses=2", "--ses 2" and "-s 2" are one thing.
struct ToolArguments {
  std::vector<std::string> operands;
  std::vector<std::pair<std::string, std::string>> options;  // name without dashes

  const std::string* option(const std::string& long_name, const std::string& short_name) const;
};
// `flags` are options that take no value.
ToolArguments parse_tool_arguments(const std::vector<std::string>& argv,
                                   const std::vector<std::string>& flags);

}  // namespace leasehold::simsite
