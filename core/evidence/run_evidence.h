// What the site's agent signs at the end of an enrolment or release (predicate run/v1): which run
// of which machine, under which policy, against which manifest, with which results (by digest). seq
// starts at 1 and rises by one per site; prev is the digest of the former envelope, empty with 1.
// Values only, any thread; never decides that a machine is clean (bundle.h does).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/evidence/baseline.h"
#include "core/evidence/disk_wipe.h"
#include "core/evidence/dsse.h"

namespace leasehold {

struct EvidencePolicy {
  std::string pool;
  int64_t revision = 0;
  Versions firmware_baseline;
  WipeRules wipe;                           // "wipe_minimum", "readback"
  std::string minimum_binding = "network";  // "network", "vmedia", "tpm"
  static Result<EvidencePolicy> from_json(const Json& json);
  Json to_json() const;
  bool operator==(const EvidencePolicy&) const = default;
};

struct EvidenceStep {
  std::string place;
  int64_t pass = 1;
  int64_t attempt = 1;
  int64_t at_ms = 0;
  static Result<EvidenceStep> from_json(const Json& json);
  bool operator==(const EvidenceStep&) const = default;
};

struct EvidenceResult {
  std::string place;
  int64_t pass = 1;
  int64_t attempt = 1;
  std::string command;
  std::string nonce;  // base64
  ResultKind kind = ResultKind::kDiskWipe;
  std::string digest;  // of the envelope
  static Result<EvidenceResult> from_json(const Json& json);
  bool operator==(const EvidenceResult&) const = default;
};

enum class FirmwareAtWipe { kUnchecked, kBaseline, kDrifted, kReflashed };

struct EvidenceFirmware {
  FirmwareAtWipe at_wipe = FirmwareAtWipe::kUnchecked;
  Versions found;   // at the end of the run
  Versions listed;  // found, but not in the baseline
  static Result<EvidenceFirmware> from_json(const Json& json);
  Json to_json() const;
  bool operator==(const EvidenceFirmware&) const = default;
};

struct EvidenceObserver {
  std::string who;
  std::string says;
  std::string independence;
  static Result<EvidenceObserver> from_json(const Json& json);
  bool operator==(const EvidenceObserver&) const = default;
};

struct RunEvidence {
  std::string site;
  std::string domain;
  std::string node;
  std::string lease;  // empty for an enrolment
  int64_t generation = 0;
  std::string run;
  std::string workflow;  // "name@version"
  std::string binding;
  std::string image;
  std::vector<std::string> boot_nonces;  // base64, one per pass: [pass - 1]
  EvidencePolicy policy;
  DiskManifest manifest;
  std::vector<std::string> gpus;  // serials
  std::vector<EvidenceStep> steps;
  std::vector<EvidenceResult> results;
  EvidenceFirmware firmware;
  std::vector<EvidenceObserver> observers;
  int64_t seq = 1;
  std::string prev;
  int64_t at_ms = 0;
  std::string verdict = "clean";

  Json to_json() const;
  static Result<RunEvidence> from_json(const Json& predicate);
  // The context that this result of the run must have repeated. `result.pass` has a boot nonce.
  ResultContext context_of(const EvidenceResult& result) const;
  bool operator==(const RunEvidence&) const = default;
};

// Subjects are the manifest's disks.
Result<DsseEnvelope> sign_run_evidence(const std::string& private_key_pem,
                                       const RunEvidence& evidence);
// The payload's content; refuses its form (payload type, malformed, not-canonical, predicate,
// subjects), never its claims. Whose signature it is must be checked apart (signer.h).
Checked<RunEvidence> parse_run_evidence(const DsseEnvelope& envelope);

// 1 "network", 2 "vmedia", 3 "tpm"; 0 for any other word.
int binding_strength(std::string_view binding);
std::string_view firmware_at_wipe_name(FirmwareAtWipe at_wipe);

}  // namespace leasehold
