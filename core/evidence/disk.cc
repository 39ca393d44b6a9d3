#include "core/evidence/disk.h"

#include <set>

#include "core/evidence/disk_words.h"
#include "core/tls/crypto.h"

namespace leasehold {

std::string_view verdict_name(Verdict verdict) { return word_of(kVerdictWords, verdict); }
std::string_view hidden_areas_name(HiddenAreas areas) { return word_of(kHiddenAreasWords, areas); }

Json ManifestEntry::to_json() const {
  return {{"serial", serial},       {"wwn", wwn},
          {"model", model},         {"capacity_bytes", capacity_bytes},
          {"transport", transport}, {"hidden_areas", hidden_areas_name(hidden_areas)}};
}

Result<ManifestEntry> ManifestEntry::from_json(const Json& json) {
  StrictObject object(json, "disk",
                      {"serial", "wwn", "model", "capacity_bytes", "transport", "hidden_areas"});
  ManifestEntry entry;
  entry.serial = object.filled("serial");
  entry.wwn = object.text("wwn");
  entry.model = object.text("model");
  entry.capacity_bytes = object.count("capacity_bytes");
  if (entry.capacity_bytes == 0) object.fail("capacity_bytes", "is 0");
  entry.transport = object.text("transport");
  if (!is_transport(entry.transport)) object.fail("transport", "has an unknown word");
  entry.hidden_areas = object.word("hidden_areas", kHiddenAreasWords);
  TRY(object.status());
  return entry;
}

// dump_json is the canonical form here: the members are integers and text, and bytes that are not
// UTF-8 (a disk's own strings) have one replacement on both sides.
Subject ManifestEntry::subject() const {
  return {"disk:" + (wwn.empty() ? serial : wwn), sha256_hex(dump_json(to_json()))};
}

bool ManifestEntry::same_disk(const ManifestEntry& other) const {
  return serial == other.serial && wwn == other.wwn && model == other.model &&
         capacity_bytes == other.capacity_bytes && transport == other.transport;
}

Json DiskManifest::to_json() const {
  Json out = Json::array();
  for (const ManifestEntry& entry : disks) out.push_back(entry.to_json());
  return out;
}

Result<DiskManifest> DiskManifest::from_json(const Json& json) {
  if (!json.is_array()) return Error(Code::kMalformed, "a manifest is a list of disks");
  DiskManifest manifest;
  std::set<std::string> serials, wwns;
  for (const Json& item : json) {
    ManifestEntry entry = TRY(ManifestEntry::from_json(item));
    bool fresh = serials.insert(entry.serial).second;
    if (!entry.wwn.empty()) fresh = wwns.insert(entry.wwn).second && fresh;
    if (!fresh) return Error(Code::kMalformed, "a manifest names disk " + entry.serial + " twice");
    manifest.disks.push_back(std::move(entry));
  }
  return manifest;
}

const ManifestEntry* DiskManifest::find(std::string_view serial) const {
  for (const ManifestEntry& entry : disks) {
    if (entry.serial == serial) return &entry;
  }
  return nullptr;
}

std::vector<Subject> DiskManifest::subjects() const {
  std::vector<Subject> out;
  for (const ManifestEntry& entry : disks) out.push_back(entry.subject());
  return out;
}

Checked<void> check_disks(const DiskManifest& manifest, const std::vector<ManifestEntry>& seen) {
  std::set<std::string> serials;
  for (const ManifestEntry& entry : seen) {
    const ManifestEntry* known = manifest.find(entry.serial);
    if (known != nullptr && !known->same_disk(entry)) {
      return EvidenceRefusal{EvidenceReason::kChangedDisk, "serial " + entry.serial};
    }
    serials.insert(entry.serial);
  }
  // Missing before extra: of a disk that was exchanged, the lost one holds the tenant's bytes.
  for (const ManifestEntry& entry : manifest.disks) {
    if (serials.count(entry.serial) > 0) continue;
    return EvidenceRefusal{EvidenceReason::kMissingDisk, "serial " + entry.serial};
  }
  if (seen.size() != manifest.disks.size()) {
    for (const ManifestEntry& entry : seen) {
      if (manifest.find(entry.serial) != nullptr) continue;
      return EvidenceRefusal{EvidenceReason::kExtraDisk, "serial " + entry.serial};
    }
    return EvidenceRefusal{EvidenceReason::kExtraDisk, "a serial is there twice"};
  }
  return {};
}

}  // namespace leasehold
