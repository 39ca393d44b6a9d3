// Lays out a machine as files, the way Linux shows it to the ramdisk program: /proc/cmdline, sysfs
// of NVMe disks, network, DMI and PCI, /dev, /etc/leasehold. The shapes were recorded from kernel
// 6.1: attributes end in a newline, NVMe identity is padded with blanks. Built anew at each boot;
// blocks.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "simsite/config.h"
#include "simsite/disk.h"

namespace leasehold::simsite {

struct SysrootPlan {
  std::string root;  // replaced
  std::string cmdline;
  std::string image_etc;  // image_dir/etc/leasehold, copied if it is there
  std::string mac;
  std::string serial;
  std::string board_serial;
  std::string uuid;
  std::vector<Disk> disks;
  std::vector<GpuConfig> gpus;
};

Status build_sysroot(const SysrootPlan& plan);

// The shims of one machine: links to the programs of `shims_dir` beside a machine.json that tells
// them who they are, because a subprocess gets no environment of ours.
Status build_shims(const std::string& folder, const std::string& shims_dir,
                   const std::string& machine, const std::string& control_socket);

}  // namespace leasehold::simsite
