// What else the machine shows of itself: GPUs on the PCI bus and as their driver sees them, network
// interfaces, DMI. Reads only, and runs nvidia-smi. All of it is the machine's own word; the agent
// decides what it is worth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/evidence/inventory.h"
#include "pxe/ramdisk/sysroot.h"

namespace leasehold {

// PCI addresses ("0000:3b:00.0") of NVIDIA display and 3D controllers (vendor 10de, class 03xxxx).
std::vector<std::string> gpus_on_bus(const Sysroot& root);

struct DriverGpu {
  int index = -1;        // nvidia-smi's, of this boot only: never an identity
  ObservedGpu observed;  // ecc_uncorrected is the volatile total; -1: not reported
};
// nvidia-smi's lines of comma separated values. MALFORMED for a line that is none of them.
Result<std::vector<DriverGpu>> parse_gpu_query(const std::string& output);
// UNSUPPORTED, REFUSED, MALFORMED.
Result<std::vector<DriverGpu>> query_gpus();

InventoryReport take_inventory(const Sysroot& root);

}  // namespace leasehold
