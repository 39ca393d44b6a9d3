// Disks as the manifest names them (one entry per disk, from enrolment or adoption), and whether
// what is there now is exactly that. A serial is unique in a manifest: it is what a disk is found
// by. Values only, any thread; never looks at a disk.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/evidence/statement.h"

namespace leasehold {

// Anything else than kPass never counts.
enum class Verdict { kUnknown, kPass, kFail };
std::string_view verdict_name(Verdict verdict);  // "UNKNOWN", "PASS", "FAIL"

enum class HiddenAreas { kUnknown, kNone, kPresent };
std::string_view hidden_areas_name(HiddenAreas areas);

struct ManifestEntry {
  std::string serial;  // never empty
  std::string wwn;     // may be empty
  std::string model;
  int64_t capacity_bytes = 0;
  std::string transport;  // "nvme", "sata", "sas", "virtio", "usb", "mmc"
  HiddenAreas hidden_areas = HiddenAreas::kUnknown;

  Json to_json() const;
  static Result<ManifestEntry> from_json(const Json& json);
  // Name "disk:<wwn>", or "disk:<serial>" without one; digest of the canonical entry.
  Subject subject() const;
  // The same piece of hardware: everything but the hidden areas, which a wipe may change.
  bool same_disk(const ManifestEntry& other) const;
  bool operator==(const ManifestEntry&) const = default;
};

struct DiskManifest {
  std::vector<ManifestEntry> disks;

  Json to_json() const;  // a list
  // MALFORMED also if two entries share a serial or a wwn.
  static Result<DiskManifest> from_json(const Json& json);
  const ManifestEntry* find(std::string_view serial) const;
  std::vector<Subject> subjects() const;
  bool operator==(const DiskManifest&) const = default;
};

// missing-disk, extra-disk or changed-disk unless `seen` are exactly the manifest's disks.
Checked<void> check_disks(const DiskManifest& manifest, const std::vector<ManifestEntry>& seen);

}  // namespace leasehold
