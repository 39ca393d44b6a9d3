#include "core/evidence/disk_wipe.h"

#include <algorithm>
#include <initializer_list>

#include "core/evidence/disk_words.h"

namespace leasehold {
namespace {

EvidenceRefusal refuse_disk(EvidenceReason reason, const DiskWipe& wipe, const std::string& why) {
  std::string detail = "serial " + wipe.disk.serial + ": " + why;
  if (!wipe.reason.empty()) detail += " (ramdisk: " + wipe.reason.substr(0, 200) + ")";
  return {reason, detail};
}

// The value of an option however nvme-cli lets it be spelled ("--ses=1", "--ses 1", "-s1"); the
// last one counts, as it does there. Empty if there is none.
std::string option_value(const std::vector<std::string>& argv, const std::string& name,
                         const std::string& letter) {
  std::string found;
  for (size_t i = 2; i < argv.size(); ++i) {
    const std::string& word = argv[i];
    if (word == name || word == letter) {
      found = i + 1 < argv.size() ? argv[i + 1] : "";
    } else if (word.starts_with(name + "=")) {
      found = word.substr(name.size() + 1);
    } else if (word.starts_with(letter) && word.size() > 2) {
      found = word.substr(word[2] == '=' ? 3 : 2);
    }
  }
  return found;
}

bool is_one_of(const std::string& word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What a command that ended well did to the disk: a closed list, for each transport of its own.
enum class Effect { kForeign, kLooks, kErasesNothing, kErases };

// NVM Express: Format with SES 1 or 2 erases, with 0 or none it succeeds and erases nothing.
// Sanitize: actions 2 (block), 3 (overwrite) and 4 (crypto); 1 only leaves a failure mode.
Effect effect_of_nvme(const std::vector<std::string>& argv) {
  if (argv.size() < 2 || (argv[0] != "nvme" && !argv[0].ends_with("/nvme"))) {
    return Effect::kForeign;
  }
  const std::string& verb = argv[1];
  if (verb == "format") {
    bool erases = is_one_of(option_value(argv, "--ses", "-s"), {"1", "2"});
    return erases ? Effect::kErases : Effect::kErasesNothing;
  }
  if (verb == "sanitize") {
    bool erases = is_one_of(option_value(argv, "--sanact", "-a"),
                            {"2", "3", "4", "0x02", "0x03", "0x04", "start-block-erase",
                             "start-overwrite", "start-crypto-erase"});
    return erases ? Effect::kErases : Effect::kErasesNothing;
  }
  return is_one_of(verb, {"id-ctrl", "list-ns", "sanitize-log"}) ? Effect::kLooks
                                                                 : Effect::kForeign;
}

Effect effect_of(const std::string& transport, const WipeCommand& command) {
  return transport == "nvme" ? effect_of_nvme(command.argv) : Effect::kForeign;
}

Checked<void> check_method(const DiskWipe& wipe, const WipeRules& rules) {
  if (wipe.method == WipeMethod::kNone || wipe.commands.empty()) {
    return refuse_disk(EvidenceReason::kNotErased, wipe, "no erasing command");
  }
  bool erased = false;
  for (const WipeCommand& command : wipe.commands) {
    if (command.exit != 0) {
      return refuse_disk(EvidenceReason::kCommandFailed, wipe,
                         command.argv[0] + " ended with " + std::to_string(command.exit));
    }
    Effect effect = effect_of(wipe.disk.transport, command);
    if (effect == Effect::kForeign) {
      return refuse_disk(EvidenceReason::kUnknownErase, wipe,
                         command.argv[0] + " on " + wipe.disk.transport);
    }
    if (effect == Effect::kErasesNothing) {
      return refuse_disk(EvidenceReason::kNotErased, wipe,
                         "nvme " + command.argv[1] + " with an action that erases nothing");
    }
    erased = erased || effect == Effect::kErases;
  }
  if (!erased) return refuse_disk(EvidenceReason::kNotErased, wipe, "no erasing command");
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
