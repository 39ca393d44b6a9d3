#include "pxe/ramdisk/readback.h"

#include <catch2/catch.hpp>

#include "core/base/limits.h"

using namespace leasehold;

namespace {

constexpr uint64_t kMiB = 1 << 20;

bool covers(const std::vector<Extent>& extents, const Extent& wanted) {
  for (const Extent& extent : extents) {
    if (extent.offset <= wanted.offset &&
        wanted.offset + wanted.length <= extent.offset + extent.length) {
      return true;
    }
  }
  return false;
}

void check_disjoint_and_inside(const std::vector<Extent>& extents, const DiskGeometry& disk) {
  uint64_t end = 0;
  for (const Extent& extent : extents) {
    CHECK(extent.offset >= end);
    CHECK(extent.offset % disk.unit_bytes == 0);
    CHECK(extent.length % disk.unit_bytes == 0);
    end = extent.offset + extent.length;
  }
  CHECK(end <= disk.size_bytes);
}

}  // namespace

TEST_CASE("markers lie on the first and the last block and apart from each other") {
  for (uint64_t size : {8192ull, 100'000ull * 512, 1ull << 30, 8ull << 40}) {
    DiskGeometry disk{size, size % 4096 == 0 ? 4096u : 512u, "seed"};
    std::vector<Extent> places = marker_places(disk);
    check_disjoint_and_inside(places, disk);
    REQUIRE(places.size() >= 2);
    CHECK(places.front().offset == 0);
    CHECK(places.back().offset + places.back().length == size);
    if (size > kMiB) CHECK(places.size() >= limits::kWipeMarkers - 2);
  }
}

TEST_CASE("a disk smaller than a marker has none") {
  CHECK(marker_places({4095, 512, "seed"}).empty());
  CHECK(marker_places({0, 512, "seed"}).empty());
}

TEST_CASE("the seed decides the places and the bytes") {
  DiskGeometry one{1ull << 30, 4096, "one"}, two{1ull << 30, 4096, "two"};
  CHECK(marker_places(one) == marker_places(one));
  CHECK(marker_places(one) != marker_places(two));
  CHECK(marker_bytes(one, {0, 4096}) != marker_bytes(two, {0, 4096}));
  CHECK(marker_bytes(one, {0, 4096}) != marker_bytes(one, {4096, 4096}));
  CHECK(readback_extents(one, {}, kMiB, false) != readback_extents(two, {}, kMiB, false));
}

TEST_CASE("a sample reads the edges, each marker and as much between them as was asked") {
  for (uint64_t sample : {uint64_t{0}, uint64_t{1}, kMiB, 64 * kMiB, uint64_t{6} << 30}) {
    DiskGeometry disk{64ull << 30, 4096, "seed"};
    std::vector<Extent> markers = marker_places(disk);
    std::vector<Extent> extents = readback_extents(disk, markers, sample, false);
    check_disjoint_and_inside(extents, disk);
    CHECK(covers(extents, {0, kMiB}));
    CHECK(covers(extents, {disk.size_bytes - kMiB, kMiB}));
    for (const Extent& marker : markers) CHECK(covers(extents, marker));
    CHECK(total_bytes(extents) >= sample + 2 * kMiB);
    CHECK(total_bytes(extents) < sample + sample / 50 + 4 * kMiB);
    CHECK(static_cast<int64_t>(total_bytes(extents)) >=
          (sample >= kMiB ? sample_bytes_needed(64ll << 30) : 0));
  }
}

TEST_CASE("everything is read if asked, or if the sample is most of the disk") {
  DiskGeometry disk{16 * kMiB, 4096, "seed"};
  std::vector<Extent> all = {{0, 16 * kMiB}};
  CHECK(readback_extents(disk, marker_places(disk), 0, true) == all);
  CHECK(readback_extents(disk, marker_places(disk), 12 * kMiB, false) == all);
  CHECK(readback_extents(disk, marker_places(disk), UINT64_MAX, false) == all);
  CHECK(readback_extents({kMiB, 4096, "s"}, {}, 0, false) == std::vector<Extent>{{0, kMiB}});
}

TEST_CASE("DK10: one uniform class is clean, anything else is mixed") {
  std::string zeros(4096, '\0'), ones(4096, '\xff'), one_off = zeros;
  one_off[77] = 'x';
  ByteClass none, all_zeros, all_ones, both, dirty, same;
  CHECK(none.found() == ReadbackClass::kNone);
  CHECK_FALSE(none.uniform());
  all_zeros.add(zeros.data(), zeros.size());
  CHECK(all_zeros.found() == ReadbackClass::kZeros);
  all_ones.add(ones.data(), ones.size());
  CHECK(all_ones.found() == ReadbackClass::kOnes);
  both.add(zeros.data(), zeros.size());
  both.add(ones.data(), 512);
  CHECK(both.found() == ReadbackClass::kMixed);
  CHECK(both.mismatched() == 512);
  dirty.add(one_off.data(), one_off.size());
  CHECK(dirty.found() == ReadbackClass::kMixed);
  CHECK(dirty.mismatched() == 1);
  std::string letters(4096, 'a');
  same.add(letters.data(), letters.size());
  CHECK(same.found() == ReadbackClass::kMixed);
  CHECK(same.mismatched() == 4096);
}

TEST_CASE("a marker survives if one of its sectors does") {
  DiskGeometry disk{kMiB, 4096, "seed"};
  std::string marker = marker_bytes(disk, {0, 4096});
  std::string read(4096, '\0');
  CHECK_FALSE(marker_survived(marker, read.data()));
  read.replace(512, 512, marker, 512, 512);
  CHECK(marker_survived(marker, read.data()));
}
