// Verifies one result of a ramdisk against what the agent expects of it. The agent uses it when a
// result arrives, and the bundle's verifier with an expectation rebuilt from the run evidence: one
// code for both. Verdicts are recomputed from the facts. No state, any thread; never asks anyone.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/evidence/disk_wipe.h"
#include "core/evidence/dsse.h"
#include "core/evidence/inventory.h"
#include "core/tls/x509.h"

namespace leasehold {

struct Expectation {
  ResultKind kind = ResultKind::kDiskWipe;
  ResultContext context;
  std::string command;
  std::string nonce;  // base64
  // Of a wipe always; of an inventory, absent at the first enrolment (nothing is known yet).
  std::optional<DiskManifest> manifest;
  WipeRules wipe;
  // Serials. Of a diagnosis always; of an inventory as the manifest.
  std::optional<std::vector<std::string>> gpus;
  int64_t diagnosis_level = 1;
};

using ResultBody = std::variant<InventoryReport, DiskWipeReport, DiagnosisReport>;

struct VerifiedResult {
  ResultKind kind = ResultKind::kDiskWipe;
  ResultHead head;
  ResultBody body;
  std::string digest;  // of the envelope
  Identity signer;
  std::string leaf_serial;
  std::string site_ca_sha256;  // hex; of the authority that the signer's certificate is from
};

// `instant_ms`: for a result that arrives now, now.
Checked<VerifiedResult> verify_result(const SignedEnvelope& result, const Expectation& expectation,
                                      const Anchors& anchors, int64_t instant_ms);

// Builds what verify_result accepts: the ramdisk's side. `subjects` are the manifest's for a wipe,
// the context's node_subject() otherwise.
Result<DsseEnvelope> sign_result(const std::string& private_key_pem, ResultKind kind,
                                 const std::vector<Subject>& subjects, const ResultHead& head,
                                 const Json& body);

}  // namespace leasehold
