// Markers and read-back: what is written to a disk before its erase, which bytes are read after it,
// and what they are. Pure functions of (size, seed), so that whoever knows the seed can repeat the
// choice; a disk cannot guess it, because the seed comes with the command. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/evidence/disk_wipe.h"

namespace leasehold {

struct Extent {
  uint64_t offset = 0;
  uint64_t length = 0;
  bool operator==(const Extent&) const = default;
};

struct DiskGeometry {
  uint64_t size_bytes = 0;
  uint64_t unit_bytes = 4096;
  std::string seed;  // bytes, of this disk: the command's seed and the serial
};

// limits::kWipeMarkers places, the first and the last block among them, the others seeded over the
// whole disk; fewer on a disk too small for them. Sorted, apart from each other.
std::vector<Extent> marker_places(const DiskGeometry& disk);
// The bytes of the marker at that place: unlike at every other place, and incompressible.
std::string marker_bytes(const DiskGeometry& disk, const Extent& place);

// First and last MiB, every marker, and at least `sample_bytes` between them in pieces seeded over
// the disk, one in each of as many equal strata; everything if `full`, or if the sample is most of
// the disk. Sorted, disjoint.
std::vector<Extent> readback_extents(const DiskGeometry& disk, const std::vector<Extent>& markers,
                                     uint64_t sample_bytes, bool full);
uint64_t total_bytes(const std::vector<Extent>& extents);

// Counts what was read. One uniform class is the only clean one (quirk DK10).
class ByteClass {
 public:
  void add(const char* data, size_t length);
  // kNone before the first byte; kOnes is all 0xFF.
  ReadbackClass found() const;
  bool uniform() const {
    return found() == ReadbackClass::kZeros || found() == ReadbackClass::kOnes;
  }
  uint64_t bytes() const { return bytes_; }
  // Bytes that are not of the commoner of the two classes.
  uint64_t mismatched() const;

 private:
  uint64_t bytes_ = 0;
  uint64_t zeros_ = 0;
  uint64_t ones_ = 0;
};

// True if any sector of `read` still holds what the marker had there.
bool marker_survived(const std::string& marker, const char* read);

}  // namespace leasehold
