// Which disks this machine shows now, from sys/block: what they call themselves, how large they are
// and how they are attached. Reads only. A disk's own word on its identity is taken as it is here;
// disk.wipe compares it with the manifest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/evidence/disk.h"
#include "pxe/ramdisk/sysroot.h"

namespace leasehold {

struct BlockDevice {
  std::string name;       // "nvme0n1"
  std::string path;       // of its device node
  std::string serial;     // may be empty
  std::string wwn;        // sysfs wwid, as printed ("eui.…", "naa.…"); may be empty
  std::string model;      // may be empty
  std::string transport;  // "nvme", "sata", "sas", "virtio", "usb", "mmc"
  uint64_t capacity_bytes = 0;
  // Further namespaces of the same NVMe controller (quirk DK7): it is one disk all the same.
  std::vector<std::string> other_namespaces;
};

// Sorted by name. Left out: loop, ram, zram, dm-, md, sr, fd, partitions, hidden paths, the second
// path to a disk that is listed already (quirk DK20), and whatever has no capacity: an empty
// reader, or a disk so dead that it counts as missing. At most limits::kRamdiskDisks + 1, so that
// "too many" can be told from "exactly as many".
std::vector<BlockDevice> list_block_devices(const Sysroot& root);

// As a manifest would name it. A disk without a serial goes by "no-serial:<device>", so that it can
// be reported; no manifest made elsewhere names it.
ManifestEntry manifest_entry(const BlockDevice& device, HiddenAreas hidden_areas);

}  // namespace leasehold
