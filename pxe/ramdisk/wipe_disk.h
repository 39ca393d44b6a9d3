// The wipe of one disk: markers, the strongest erase the disk can do, read-back, verdict. Called on
// a thread of its own per disk by wipe_disks.cc; blocks for as long as the disk needs. Knows
// nothing of the manifest. A disk that cannot be erased, measured or read is a verdict with a
// reason, never an error, and never PASS.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/clock.h"
#include "core/evidence/disk_wipe.h"
#include "pxe/ramdisk/block_devices.h"

namespace leasehold {

struct WipeOptions {
  WipeRules rules;
  uint64_t sample_bytes = 0;
  std::string seed_hex;
  std::string seed;  // its bytes
};

DiskWipe wipe_disk(const BlockDevice& device, const WipeOptions& options, Clock& clock);

// A worse verdict is never made better, and the first reason of the worst one stays.
void lower_verdict(Verdict& verdict, std::string& reason, Verdict to, const std::string& why);

}  // namespace leasehold
