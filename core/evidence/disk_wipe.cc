#include "core/evidence/disk_wipe.h"

#include <algorithm>

#include "core/evidence/disk_words.h"

namespace leasehold {
namespace {

EvidenceRefusal refuse_disk(EvidenceReason reason, const DiskWipe& wipe, const std::string& why) {
  std::string detail = "serial " + wipe.disk.serial + ": " + why;
  if (!wipe.reason.empty()) detail += " (ramdisk: " + wipe.reason.substr(0, 200) + ")";
  return {reason, detail};
}

// The value of nvme-cli's secure erase setting, however it is spelled; empty if there is none.
std::string secure_erase_setting(const std::vector<std::string>& argv) {
  std::string found;
  for (size_t i = 0; i < argv.size(); ++i) {
    const std::string& word = argv[i];
    std::string next = i + 1 < argv.size() ? argv[i + 1] : "";
    if (word == "--ses" || word == "-s") {
      found = next;
    } else if (word.starts_with("--ses=")) {
      found = word.substr(6);
    } else if (word.starts_with("-s") && word.size() > 2) {
      found = word.substr(word[2] == '=' ? 3 : 2);
    }
  }
  return found;
}

// `nvme format` without a secure erase setting, or with SES 0, succeeds and erases nothing.
bool is_format_that_erases_nothing(const WipeCommand& command) {
  const auto& argv = command.argv;
  if (argv.size() < 2 || argv[1] != "format") return false;
  if (argv[0] != "nvme" && !argv[0].ends_with("/nvme")) return false;
  std::string setting = secure_erase_setting(argv);
  return setting != "1" && setting != "2";
}

Checked<void> check_method(const DiskWipe& wipe, const WipeRules& rules) {
  if (wipe.method == WipeMethod::kNone || wipe.commands.empty()) {
    return refuse_disk(EvidenceReason::kNotErased, wipe, "no erasing command");
  }
  for (const WipeCommand& command : wipe.commands) {
    if (command.exit != 0) {
      return refuse_disk(EvidenceReason::kCommandFailed, wipe,
                         command.argv[0] + " ended with " + std::to_string(command.exit));
    }
    if (is_format_that_erases_nothing(command)) {
      return refuse_disk(EvidenceReason::kNotErased, wipe, "nvme format without SES 1 or 2");
    }
  }
  if (wipe.method < rules.minimum) {
    return refuse_disk(EvidenceReason::kMethodTooWeak, wipe,
                       std::string(method_name(wipe.method)) + ", policy asks for " +
                           std::string(method_name(rules.minimum)));
  }
  return {};
}

Checked<void> check_readback(const DiskWipe& wipe, const WipeRules& rules) {
  const Readback& readback = wipe.readback;
  bool blank = readback.found == ReadbackClass::kZeros || readback.found == ReadbackClass::kOnes;
  if (!blank || readback.mismatched_bytes != 0) {
    return refuse_disk(EvidenceReason::kReadbackNotClean, wipe,
                       "read back " + std::string(word_of(kClassWords, readback.found)) + ", " +
                           std::to_string(readback.mismatched_bytes) + " bytes differ");
  }
  if (!readback.direct_io) {
    return refuse_disk(EvidenceReason::kReadbackCached, wipe, "no direct I/O");
  }
  int64_t capacity = wipe.disk.capacity_bytes;
  bool full = rules.readback == ReadbackExtent::kFull;
  int64_t needed = full ? capacity : sample_bytes_needed(capacity);
  if (readback.bytes < needed || (full && readback.coverage_ppm != 1'000'000)) {
    return refuse_disk(
        EvidenceReason::kReadbackInsufficient, wipe,
        std::to_string(readback.bytes) + " bytes read, " + std::to_string(needed) + " needed");
  }
  return {};
}

// Each disk of the manifest has exactly one record, and the record is about that very disk.
Checked<void> check_records(const DiskWipeReport& report, const DiskManifest& manifest) {
  std::vector<ManifestEntry> recorded;
  for (const DiskWipe& wipe : report.disks) recorded.push_back(wipe.disk);
  return check_disks(manifest, recorded);
}

}  // namespace

int64_t sample_bytes_needed(int64_t capacity_bytes) {
  return std::min(capacity_bytes,
                  2 * limits::kReadbackEdgeBytes + limits::kReadbackSampleLeastBytes);
}

Checked<void> check_disk_wipe(const DiskWipe& wipe, const WipeRules& rules) {
  if (wipe.disk.hidden_areas != HiddenAreas::kNone) {
    return refuse_disk(EvidenceReason::kHiddenAreas, wipe,
                       "hidden areas " + std::string(hidden_areas_name(wipe.disk.hidden_areas)));
  }
  TRY(check_method(wipe, rules));
  if (wipe.markers.written <= 0) {
    return refuse_disk(EvidenceReason::kNoMarkers, wipe, "no markers written");
  }
  if (wipe.markers.survived != 0) {
    return refuse_disk(EvidenceReason::kMarkerSurvived, wipe,
                       std::to_string(wipe.markers.survived) + " of " +
                           std::to_string(wipe.markers.written) + " markers");
  }
  TRY(check_readback(wipe, rules));
  if (wipe.verdict != Verdict::kPass) {
    return refuse_disk(EvidenceReason::kDiskNotPass, wipe,
                       "verdict " + std::string(verdict_name(wipe.verdict)));
  }
  return {};
}

Checked<void> check_wipe_report(const DiskWipeReport& report, const DiskManifest& manifest,
                                const WipeRules& rules) {
  if (manifest.disks.empty()) return EvidenceRefusal{EvidenceReason::kEmptyManifest, ""};
  if (report.expected != manifest) {
    return EvidenceRefusal{EvidenceReason::kWrongManifest, "\"expected\" differs"};
  }
  TRY(check_disks(manifest, report.observed));
  TRY(check_records(report, manifest));
  for (const DiskWipe& wipe : report.disks) TRY(check_disk_wipe(wipe, rules));
  // Seen as well as wiped: areas that turned up only in one of the two lists count too.
  for (const ManifestEntry& entry : report.observed) {
    if (entry.hidden_areas == HiddenAreas::kNone) continue;
    return EvidenceRefusal{EvidenceReason::kHiddenAreas, "serial " + entry.serial};
  }
  if (report.verdict != Verdict::kPass) {
    return EvidenceRefusal{EvidenceReason::kVerdictNotPass,
                           "verdict " + std::string(verdict_name(report.verdict))};
  }
  return {};
}

}  // namespace leasehold
