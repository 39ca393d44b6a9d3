#include "pxe/ramdisk/readback.h"

#include <algorithm>
#include <cstring>

#include "core/base/limits.h"
#include "core/tls/crypto.h"

namespace leasehold {
namespace {

constexpr size_t kSectorBytes = 512;

std::string seeded(const DiskGeometry& disk, const std::string& what, uint64_t number) {
  return sha256(disk.seed + "\n" + what + "\n" + std::to_string(number));
}

uint64_t seeded_below(const DiskGeometry& disk, const std::string& what, uint64_t number,
                      uint64_t bound) {
  std::string digest = seeded(disk, what, number);
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof value; ++i) {
    value = value << 8 | static_cast<unsigned char>(digest[i]);
  }
  return value % bound;
}

// One place of `length` in each of `count` equal strata of `area`.
std::vector<Extent> stratified(const DiskGeometry& disk, const std::string& what,
                               const Extent& area, uint64_t count, uint64_t length) {
  std::vector<Extent> places;
  uint64_t units = area.length / disk.unit_bytes;
  uint64_t length_units = length / disk.unit_bytes;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t first = units / count * i;
    uint64_t stratum = i + 1 == count ? units - first : units / count;
    if (stratum < length_units || stratum == 0) continue;
    uint64_t at = first + seeded_below(disk, what, i, stratum - length_units + 1);
    places.push_back({area.offset + at * disk.unit_bytes, length});
  }
  return places;
}

void sort_and_merge(std::vector<Extent>& extents) {
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  std::vector<Extent> merged;
  for (const Extent& extent : extents) {
    if (extent.length == 0) continue;
    if (!merged.empty() && extent.offset <= merged.back().offset + merged.back().length) {
      uint64_t end =
          std::max(merged.back().offset + merged.back().length, extent.offset + extent.length);
      merged.back().length = end - merged.back().offset;
    } else {
      merged.push_back(extent);
    }
  }
  extents = std::move(merged);
}

uint64_t whole_units(const DiskGeometry& disk) {
  return disk.size_bytes - disk.size_bytes % disk.unit_bytes;
}

}  // namespace

std::vector<Extent> marker_places(const DiskGeometry& disk) {
  constexpr uint64_t kLength = limits::kWipeMarkerBytes;
  uint64_t size = whole_units(disk);
  if (size < kLength) return {};
  std::vector<Extent> places = {{0, kLength}, {size - kLength, kLength}};
  std::vector<Extent> inner =
      stratified(disk, "marker", {0, size}, limits::kWipeMarkers - 2, kLength);
  places.insert(places.end(), inner.begin(), inner.end());
  std::sort(places.begin(), places.end(),
            [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  std::vector<Extent> apart;
  for (const Extent& place : places) {
    bool last = place.offset == size - kLength;
    while (last && !apart.empty() && apart.back().offset + kLength > place.offset) apart.pop_back();
    if (apart.empty() || apart.back().offset + kLength <= place.offset) apart.push_back(place);
  }
  return apart;
}

std::string marker_bytes(const DiskGeometry& disk, const Extent& place) {
  std::string bytes;
  for (uint64_t i = 0; bytes.size() < place.length; ++i) {
    bytes += seeded(disk, "bytes of " + std::to_string(place.offset), i);
  }
  bytes.resize(place.length);
  return bytes;
}

std::vector<Extent> readback_extents(const DiskGeometry& disk, const std::vector<Extent>& markers,
                                     uint64_t sample_bytes, bool full) {
  uint64_t size = whole_units(disk);
  constexpr uint64_t kEdges = 2 * limits::kWipeEdgeBytes;
  // Strata need room for their piece to lie anywhere.
  if (full || size <= kEdges || sample_bytes >= (size - kEdges) / 2) {
    return size == 0 ? std::vector<Extent>{} : std::vector<Extent>{{0, size}};
  }
  uint64_t piece = limits::kWipeSampleBytes;
  if (sample_bytes / piece > limits::kWipeSamplePieces) {
    piece = sample_bytes / limits::kWipeSamplePieces / disk.unit_bytes * disk.unit_bytes;
  }
  std::vector<Extent> extents = stratified(disk, "sample", {limits::kWipeEdgeBytes, size - kEdges},
                                           (sample_bytes + piece - 1) / piece, piece);
  extents.push_back({0, limits::kWipeEdgeBytes});
  extents.push_back({size - limits::kWipeEdgeBytes, limits::kWipeEdgeBytes});
  extents.insert(extents.end(), markers.begin(), markers.end());
  sort_and_merge(extents);
  return extents;
}

uint64_t total_bytes(const std::vector<Extent>& extents) {
  uint64_t total = 0;
  for (const Extent& extent : extents) total += extent.length;
  return total;
}

void ByteClass::add(const char* data, size_t length) {
  if (length == 0) return;
  bytes_ += length;
  // Nearly every block is uniform, and comparing it with itself one byte on is the fastest look.
  if (std::memcmp(data, data + 1, length - 1) == 0) {
    if (data[0] == '\0') zeros_ += length;
    if (data[0] == '\xff') ones_ += length;
    return;
  }
  zeros_ += static_cast<uint64_t>(std::count(data, data + length, '\0'));
  ones_ += static_cast<uint64_t>(std::count(data, data + length, '\xff'));
}

ReadbackClass ByteClass::found() const {
  if (bytes_ == 0) return ReadbackClass::kNone;
  if (zeros_ == bytes_) return ReadbackClass::kZeros;
  return ones_ == bytes_ ? ReadbackClass::kOnes : ReadbackClass::kMixed;
}

uint64_t ByteClass::mismatched() const { return bytes_ - std::max(zeros_, ones_); }

bool marker_survived(const std::string& marker, const char* read) {
  for (size_t at = 0; at + kSectorBytes <= marker.size(); at += kSectorBytes) {
    if (std::memcmp(marker.data() + at, read + at, kSectorBytes) == 0) return true;
  }
  return false;
}

}  // namespace leasehold
