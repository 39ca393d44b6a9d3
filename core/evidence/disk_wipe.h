// The body of disk-wipe/v1: what was done to each disk and read back from it, and the judgement of
// it. The judgement comes from the facts (commands, markers, bytes read); the ramdisk's own
// verdicts can only make it worse. Method and technique in the words of NIST SP 800-88 and IEEE
// 2883. Values only, any thread; never touches a disk.
#pragma once

#include <string>
#include <vector>

#include "core/evidence/disk.h"

namespace leasehold {

enum class WipeMethod { kNone, kClear, kPurge };  // rising strength
enum class ReadbackExtent { kFull, kSample };
enum class ReadbackClass { kNone, kZeros, kOnes, kMixed };
std::string_view method_name(WipeMethod method);
std::string_view readback_extent_name(ReadbackExtent extent);
Result<WipeMethod> parse_wipe_minimum(std::string_view word);  // "purge", "clear"
Result<ReadbackExtent> parse_readback_extent(std::string_view word);

// What policy asks of a wipe.
struct WipeRules {
  WipeMethod minimum = WipeMethod::kPurge;
  ReadbackExtent readback = ReadbackExtent::kFull;
  bool operator==(const WipeRules&) const = default;
};

struct WipeCommand {
  std::vector<std::string> argv;
  int64_t exit = -1;
  std::string output;  // the first 512 bytes, as UTF-8
  static Result<WipeCommand> from_json(const Json& json);
  Json to_json() const;
};

struct Markers {
  int64_t written = 0;
  int64_t survived = 0;
  static Result<Markers> from_json(const Json& json);
};

struct Readback {
  int64_t bytes = 0;
  int64_t coverage_ppm = 0;
  std::string seed;  // hex; empty for a full read-back
  ReadbackClass found = ReadbackClass::kNone;
  int64_t mismatched_bytes = 0;
  bool direct_io = false;
  static Result<Readback> from_json(const Json& json);
  Json to_json() const;
};

struct DiskWipe {
  ManifestEntry disk;  // as seen after the wipe
  WipeMethod method = WipeMethod::kNone;
  std::string technique;
  std::string standard;
  std::vector<WipeCommand> commands;
  Markers markers;
  Readback readback;
  Verdict verdict = Verdict::kUnknown;
  std::string reason;
  static Result<DiskWipe> from_json(const Json& json);
  Json to_json() const;
};

struct DiskWipeReport {
  DiskManifest expected;
  std::vector<ManifestEntry> observed;
  std::vector<DiskWipe> disks;
  Verdict verdict = Verdict::kUnknown;
  static Result<DiskWipeReport> from_json(const Json& body);
  Json to_json() const;
};

// The fewest bytes that a sample of a disk must have read: first and last MiB and
// limits::kReadbackSampleBytes between them, or the whole disk if it is smaller.
int64_t sample_bytes_needed(int64_t capacity_bytes);
// Nothing if this disk is shown to be erased, or the first reason why it is not. The ramdisk uses
// it too, so that its verdict and ours have one rule; `wipe.verdict` is judged last.
Checked<void> check_disk_wipe(const DiskWipe& wipe, const WipeRules& rules);
// The whole report against the manifest.
Checked<void> check_wipe_report(const DiskWipeReport& report, const DiskManifest& manifest,
                                const WipeRules& rules);

}  // namespace leasehold
