#include "pxe/ramdisk/hardware.h"

#include <charconv>

#include "core/base/limits.h"
#include "pxe/ramdisk/block_devices.h"
#include "pxe/ramdisk/nvme.h"
#include "pxe/ramdisk/tool.h"

namespace leasehold {
namespace {

constexpr const char* kGpuQuery =
    "--query-gpu=index,serial,uuid,pci.bus_id,vbios_version,ecc.errors.uncorrected.volatile.total";
constexpr size_t kGpuFields = 6;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t from = 0;
  while (true) {
    size_t to = text.find(separator, from);
    parts.push_back(printable(trimmed(text.substr(from, to - from)), 128));
    if (to == std::string::npos) return parts;
    from = to + 1;
  }
}

int64_t count_or(const std::string& text, int64_t fallback) {
  int64_t value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool whole = problem == std::errc() && end == text.data() + text.size() && value >= 0;
  return whole ? value : fallback;
}

// "[N/A]", "[Not Supported]" and "0" are what a driver says when there is no serial.
std::string known(const std::string& text) {
  return text.empty() || text.front() == '[' || text == "N/A" || text == "0" ? "" : text;
}

std::vector<ManifestEntry> inventory_disks(const Sysroot& root) {
  std::vector<ManifestEntry> disks;
  for (const BlockDevice& device : list_block_devices(root)) {
    std::vector<WipeCommand> commands;
    HiddenAreas hidden = HiddenAreas::kUnknown;
    if (device.transport == "nvme") hidden = probe_nvme(device, commands).hidden_areas;
    disks.push_back(manifest_entry(device, hidden));
  }
  return disks;
}

// A GPU that is on the bus and not with its driver is listed all the same, by its address only.
std::vector<Gpu> inventory_gpus(const Sysroot& root) {
  std::vector<std::string> bus = gpus_on_bus(root);
  std::vector<Gpu> gpus;
  if (bus.empty()) return gpus;
  for (const DriverGpu& seen : query_gpus().value_or({})) gpus.push_back(seen.observed.gpu);
  if (!gpus.empty()) return gpus;
  for (const std::string& address : bus) gpus.push_back({"", "", address, ""});
  return gpus;
}

std::vector<std::string> inventory_macs(const Sysroot& root) {
  std::vector<std::string> macs;
  for (const std::string& name : root.list("sys/class/net")) {
    std::string mac = root.text("sys/class/net/" + name + "/address");
    bool none = mac.empty() || mac.find_first_not_of("0:") == std::string::npos;
    if (name != "lo" && !none) macs.push_back(mac);
  }
  return macs;
}

}  // namespace

std::vector<std::string> gpus_on_bus(const Sysroot& root) {
  std::vector<std::string> found;
  for (const std::string& address : root.list("sys/bus/pci/devices")) {
    std::string folder = "sys/bus/pci/devices/" + address;
    bool nvidia = root.text(folder + "/vendor") == "0x10de";
    if (nvidia && root.text(folder + "/class").rfind("0x03", 0) == 0) found.push_back(address);
  }
  return found;
}

Result<std::vector<DriverGpu>> parse_gpu_query(const std::string& output) {
  std::vector<DriverGpu> gpus;
  for (const std::string& line : split(output, '\n')) {
    if (line.empty()) continue;
    std::vector<std::string> fields = split(line, ',');
    int64_t index = count_or(fields[0], -1);
    if (fields.size() != kGpuFields || index < 0 || index > 1023) {
      return Error(Code::kMalformed, "nvidia-smi printed \"" + line.substr(0, 80) + "\"");
    }
    if (gpus.size() >= limits::kRamdiskGpus) return Error(Code::kTooLarge, "too many GPUs");
    Gpu gpu{known(fields[1]), known(fields[2]), known(fields[3]), known(fields[4])};
    gpus.push_back({static_cast<int>(index), {gpu, count_or(fields[5], -1)}});
  }
  return gpus;
}

Result<std::vector<DriverGpu>> query_gpus() {
  ToolRun run =
      run_tool({"nvidia-smi", kGpuQuery, "--format=csv,noheader"}, limits::kRamdiskToolMs);
  if (run.exit < 0) return Error(Code::kUnsupported, run.err);
  if (!run.ok()) {
    return Error(Code::kRefused, "nvidia-smi ended with " + std::to_string(run.exit) + ": " +
                                     printable(trimmed(run.out + run.err), 160));
  }
  return parse_gpu_query(run.out);
}

InventoryReport take_inventory(const Sysroot& root) {
  InventoryReport report;
  report.disks = inventory_disks(root);
  report.gpus = inventory_gpus(root);
  report.macs = inventory_macs(root);
  report.system = {
      root.text("sys/class/dmi/id/sys_vendor"), root.text("sys/class/dmi/id/product_name"),
      root.text("sys/class/dmi/id/product_serial"), root.text("sys/class/dmi/id/product_uuid"),
      root.text("sys/class/dmi/id/board_serial")};
  return report;
}

}  // namespace leasehold
