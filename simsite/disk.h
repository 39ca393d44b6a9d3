// A simulated disk: one file of state_dir. Its first 4 KiB hold a boot record when there is
// something to boot; a tenant's disk has the tenant's bytes all over it. Formatting punches the
// data out, as a drive does. Blocks for the length of a system call or two.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/json.h"
#include "core/base/result.h"
#include "simsite/config.h"

namespace leasehold::simsite {

struct Disk {
  DiskConfig config;
  std::string name;  // "nvme0n1"
  std::string path;

  int64_t bytes() const { return config.size_mib << 20; }
  // The manifest entry (docs/protocols.md section 4) this disk has when nothing is wrong.
  Json manifest() const;
};

// How a format ends up.
enum class Erase { kAll, kHalf, kNothing };

// Makes the file anew: blank, or full of a tenant. IO.
Status create_disk(const Disk& disk);
// Zeroes and fsyncs; kHalf stops in the middle, kNothing leaves every byte. IO.
Status erase_disk(const Disk& disk, Erase erase);
// The "os" of the boot record in the first 4 KiB; nothing if the bytes name none.
std::optional<std::string> bootable_os(const Disk& disk);

}  // namespace leasehold::simsite
