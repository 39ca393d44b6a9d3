#include "pxe/ramdisk/wipe_disks.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "core/base/bytes.h"
#include "core/base/limits.h"

namespace leasehold {
namespace {

constexpr size_t kNone = SIZE_MAX;

// A machine may take a moment until its last disk shows; only when one is missing is it waited for.
std::vector<BlockDevice> list_settled(const Sysroot& root, const WipeRequest& request,
                                      Clock& clock) {
  int64_t deadline_ms = clock.monotonic_ms() + limits::kRamdiskDiskSettleMs;
  while (true) {
    std::vector<BlockDevice> devices = list_block_devices(root);
    std::set<std::string> seen;
    for (const BlockDevice& device : devices) seen.insert(device.serial);
    const auto& wanted = request.manifest.disks;
    bool complete = std::all_of(wanted.begin(), wanted.end(), [&](const ManifestEntry& entry) {
      return seen.count(entry.serial) > 0;
    });
    if (complete || clock.monotonic_ms() >= deadline_ms) return devices;
    clock.sleep_ms(limits::kRamdiskDiskSettlePollMs);
  }
}

std::vector<DiskWipe> wipe_all(const std::vector<BlockDevice>& devices, const WipeOptions& options,
                               Clock& clock) {
  std::vector<DiskWipe> wipes(devices.size());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < devices.size(); i = next++) {
      wipes[i] = wipe_disk(devices[i], options, clock);
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < std::min(devices.size(), limits::kWipeThreads); ++i) {
    threads.emplace_back(work);
  }
  for (std::thread& thread : threads) thread.join();
  return wipes;
}

// The wipe of the disk of that entry, or kNone. Of two disks that claim one serial the one that is
// the manifest's in everything else is taken; the other is an extra disk.
size_t find_wipe(const std::vector<DiskWipe>& wipes, const std::vector<bool>& taken,
                 const ManifestEntry& entry) {
  size_t found = kNone;
  for (size_t i = 0; i < wipes.size(); ++i) {
    if (taken[i] || wipes[i].disk.serial != entry.serial) continue;
    if (wipes[i].disk.same_disk(entry)) return i;
    if (found == kNone) found = i;
  }
  return found;
}

void lower(DiskWipe& wipe, Verdict to, const std::string& why) {
  lower_verdict(wipe.verdict, wipe.reason, to, why);
}

void compare_with_manifest(DiskWipe& wipe, const ManifestEntry& entry) {
  if (wipe.disk.same_disk(entry)) return;
  lower(wipe, Verdict::kFail,
        "the disk is not the one of the manifest: it is " + dump_json(wipe.disk.to_json()));
}

DiskWipe missing_disk(const ManifestEntry& entry, const WipeOptions& options) {
  DiskWipe wipe;
  wipe.disk = entry;
  wipe.readback.seed = options.seed_hex;
  lower(wipe, Verdict::kFail, "missing");
  return wipe;
}

Verdict verdict_over(const std::vector<DiskWipe>& wipes) {
  Verdict verdict = Verdict::kPass;
  for (const DiskWipe& wipe : wipes) {
    if (wipe.verdict == Verdict::kFail) return Verdict::kFail;
    if (wipe.verdict == Verdict::kUnknown) verdict = Verdict::kUnknown;
  }
  return verdict;
}

}  // namespace

Result<WipeRequest> parse_wipe_args(const Json& args) {
  WipeRequest request;
  request.manifest = TRY(DiskManifest::from_json(TRY(json_array(args, "disks"))));
  if (request.manifest.disks.size() > limits::kRamdiskDisks) {
    return Error(Code::kTooLarge, "the manifest lists more disks than one result can hold");
  }
  WipeOptions& options = request.options;
  options.rules.minimum = TRY(parse_wipe_minimum(TRY(json_string(args, "wipe_minimum"))));
  options.rules.readback = TRY(parse_readback_extent(TRY(json_string(args, "readback"))));
  int64_t sample_bytes = TRY(json_int(args, "sample_bytes"));
  if (sample_bytes < 0) return Error(Code::kInvalidInput, "is negative", "sample_bytes");
  options.sample_bytes = static_cast<uint64_t>(sample_bytes);
  options.seed_hex = TRY(json_string(args, "seed"));
  options.seed = TRY(hex_decode(options.seed_hex));
  if (options.seed.empty() || options.seed.size() > limits::kWipeSeedBytes) {
    return Error(Code::kInvalidInput, "is empty or too long", "seed");
  }
  return request;
}

DiskWipeReport wipe_disks(const Sysroot& root, const WipeRequest& request, Clock& clock) {
  std::vector<BlockDevice> devices = list_settled(root, request, clock);
  bool too_many = devices.size() > limits::kRamdiskDisks;
  if (too_many) devices.resize(limits::kRamdiskDisks);
  std::vector<DiskWipe> wipes = wipe_all(devices, request.options, clock);

  DiskWipeReport report;
  report.expected = request.manifest;
  for (const DiskWipe& wipe : wipes) report.observed.push_back(wipe.disk);
  std::vector<bool> taken(wipes.size(), false);
  for (const ManifestEntry& entry : request.manifest.disks) {
    size_t found = find_wipe(wipes, taken, entry);
    if (found == kNone) {
      report.disks.push_back(missing_disk(entry, request.options));
      continue;
    }
    taken[found] = true;
    report.disks.push_back(wipes[found]);
    compare_with_manifest(report.disks.back(), entry);
  }
  for (size_t i = 0; i < wipes.size(); ++i) {
    if (taken[i]) continue;
    report.disks.push_back(wipes[i]);
    lower(report.disks.back(), Verdict::kUnknown, "the manifest does not name this disk");
  }
  report.verdict = verdict_over(report.disks);
  // An empty list shows nothing, and a list that was cut short shows too little.
  bool too_little = request.manifest.disks.empty() || too_many;
  if (too_little && report.verdict == Verdict::kPass) report.verdict = Verdict::kUnknown;
  return report;
}

}  // namespace leasehold
