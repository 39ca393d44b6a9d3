#include "pxe/ramdisk/wipe_disk.h"

#include <algorithm>

#include "core/base/limits.h"
#include "pxe/ramdisk/direct_disk.h"
#include "pxe/ramdisk/nvme.h"
#include "pxe/ramdisk/readback.h"

namespace leasehold {
namespace {

constexpr const char* kStandard = "NIST SP 800-88 Rev. 1; IEEE 2883-2022";

class DiskWiper {
 public:
  DiskWiper(const BlockDevice& device, const WipeOptions& options, Clock& clock)
      : device_(device), options_(options), clock_(clock), buffer_(limits::kWipeReadBytes) {
    wipe_.disk = manifest_entry(device, HiddenAreas::kUnknown);
    wipe_.standard = kStandard;
    wipe_.readback.seed = options.seed_hex;
    wipe_.verdict = Verdict::kPass;
  }

  DiskWipe run() && {
    // Each step says false when those after it can show nothing.
    if (probe() && mark() && erase()) read_back();
    // The verifier's own rule is the last word, so that the two can never disagree on a pass.
    if (wipe_.verdict == Verdict::kPass) {
      Checked<void> shown = check_disk_wipe(wipe_, options_.rules);
      if (!shown.ok()) lower(Verdict::kUnknown, shown.error().text());
    }
    return std::move(wipe_);
  }

 private:
  void lower(Verdict to, const std::string& why) {
    lower_verdict(wipe_.verdict, wipe_.reason, to, why);
  }

  bool give_up(Verdict verdict, const std::string& why) {
    lower(verdict, why);
    return false;
  }

  bool probe() {
    if (device_.transport != "nvme") {
      return give_up(Verdict::kUnknown, "no erase method for transport " + device_.transport);
    }
    probe_ = probe_nvme(device_, wipe_.commands);
    wipe_.disk.hidden_areas = probe_.hidden_areas;
    if (!probe_.problem.empty()) return give_up(Verdict::kUnknown, probe_.problem);
    if (probe_.namespaces > 1) {
      return give_up(Verdict::kUnknown,
                     "the controller has " + std::to_string(probe_.namespaces) + " namespaces");
    }
    if (nvme_erase_plan(probe_.controller).empty()) {
      return give_up(Verdict::kUnknown, "the controller has no erase command");
    }
    if (probe_.hidden_areas != HiddenAreas::kNone) {
      lower(Verdict::kUnknown,
            "hidden areas: " + std::string(hidden_areas_name(probe_.hidden_areas)));
    }
    Status idle = finish_running_sanitize(device_, probe_.controller, clock_, wipe_.commands);
    return idle.ok() || give_up(Verdict::kFail, idle.error().message);
  }

  Status open(DirectDisk& disk, DirectDisk::Mode mode) {
    TRY(disk.open(device_.path, mode));
    wipe_.readback.direct_io = disk.direct();
    if (!disk.direct()) lower(Verdict::kUnknown, "the disk takes no direct I/O");
    if (disk.size_bytes() == device_.capacity_bytes) return {};
    return Error(Code::kIo, "the disk is of " + std::to_string(disk.size_bytes()) +
                                " bytes, but was announced with " +
                                std::to_string(device_.capacity_bytes));
  }

  bool mark() {
    Status marked = write_markers();
    return marked.ok() || give_up(Verdict::kFail, marked.error().message);
  }

  Status write_markers() {
    DirectDisk disk;
    TRY(open(disk, DirectDisk::Mode::kReadWrite));
    geometry_ = {disk.size_bytes(), disk.unit_bytes(), options_.seed + "\n" + device_.serial};
    markers_ = marker_places(geometry_);
    if (markers_.empty()) return Error(Code::kIo, "the disk is too small to be wiped");
    for (const Extent& place : markers_) {
      marker_bytes(geometry_, place).copy(buffer_.data(), place.length);
      TRY(disk.write(place.offset, buffer_.data(), place.length));
    }
    TRY(disk.flush());
    wipe_.markers.written = static_cast<int64_t>(markers_.size());
    if (TRY(count_markers(disk)) == wipe_.markers.written) return {};
    return Error(Code::kIo, "the disk ignores writes");
  }

  Result<int64_t> count_markers(DirectDisk& disk) {
    int64_t found = 0;
    for (const Extent& place : markers_) {
      TRY(disk.read(place.offset, buffer_.data(), place.length));
      if (marker_survived(marker_bytes(geometry_, place), buffer_.data())) ++found;
    }
    return found;
  }

  // A method that the disk refuses is followed by the next (quirk DK2). The refusals stay on record
  // in the reason; `commands` is what led to the erase, or, without one, everything.
  bool erase() {
    std::vector<WipeCommand> refused;
    std::string problems;
    for (NvmeErase erase : nvme_erase_plan(probe_.controller)) {
      std::vector<WipeCommand> commands;
      Status erased = run_nvme_erase(device_, erase, clock_, commands);
      if (erased.ok()) {
        wipe_.commands.insert(wipe_.commands.end(), commands.begin(), commands.end());
        wipe_.method = nvme_erase_strength(erase);
        wipe_.technique = nvme_technique(erase);
        wipe_.reason = wipe_.reason.empty() ? problems : wipe_.reason;
        return true;
      }
      refused.insert(refused.end(), commands.begin(), commands.end());
      problems +=
          (problems.empty() ? "" : "; ") + nvme_technique(erase) + ": " + erased.error().message;
    }
    wipe_.commands.insert(wipe_.commands.end(), refused.begin(), refused.end());
    return give_up(Verdict::kFail, "no erase command succeeded: " + problems);
  }

  void read_back() {
    ByteClass bytes;
    Status done = read_extents(bytes);
    wipe_.readback.bytes = static_cast<int64_t>(bytes.bytes());
    wipe_.readback.mismatched_bytes = static_cast<int64_t>(bytes.mismatched());
    wipe_.readback.found = bytes.found();
    unsigned __int128 read_millionfold = bytes.bytes();
    read_millionfold *= 1'000'000;
    wipe_.readback.coverage_ppm = static_cast<int64_t>(read_millionfold / geometry_.size_bytes);
    if (!done.ok()) lower(Verdict::kFail, done.error().message);
    if (wipe_.markers.survived > 0) {
      lower(Verdict::kFail, std::to_string(wipe_.markers.survived) +
                                " markers are still on the disk after its erase");
    }
    if (!bytes.uniform()) {
      lower(Verdict::kFail, "what was read back is neither all zeros nor all ones");
    }
  }

  Status read_extents(ByteClass& bytes) {
    DirectDisk disk;
    TRY(open(disk, DirectDisk::Mode::kReadOnly));
    wipe_.markers.survived = TRY(count_markers(disk));
    bool full = options_.rules.readback == ReadbackExtent::kFull;
    for (const Extent& extent :
         readback_extents(geometry_, markers_, options_.sample_bytes, full)) {
      for (uint64_t done = 0; done < extent.length; done += buffer_.size()) {
        size_t length = std::min<uint64_t>(buffer_.size(), extent.length - done);
        TRY(disk.read(extent.offset + done, buffer_.data(), length));
        bytes.add(buffer_.data(), length);
      }
    }
    return {};
  }

  const BlockDevice& device_;
  const WipeOptions& options_;
  Clock& clock_;
  AlignedBuffer buffer_;
  DiskWipe wipe_;
  NvmeProbe probe_;
  DiskGeometry geometry_;
  std::vector<Extent> markers_;
};

}  // namespace

void lower_verdict(Verdict& verdict, std::string& reason, Verdict to, const std::string& why) {
  bool worse = verdict == Verdict::kPass || (verdict == Verdict::kUnknown && to == Verdict::kFail);
  if (to == Verdict::kPass || !worse) return;
  verdict = to;
  reason = printable(why, limits::kRamdiskToolRecordBytes);
}

DiskWipe wipe_disk(const BlockDevice& device, const WipeOptions& options, Clock& clock) {
  return DiskWiper(device, options, clock).run();
}

}  // namespace leasehold
