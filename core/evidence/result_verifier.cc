#include "core/evidence/result_verifier.h"

#include "core/evidence/signer.h"

namespace leasehold {
namespace {

constexpr auto kMalformed = EvidenceReason::kMalformed;

// The certificate itself says which machine, generation and run it may speak for.
Checked<void> check_identity(const Identity& signer, const ResultContext& expected) {
  auto refuse = [&](EvidenceReason reason) {
    return EvidenceRefusal{reason, "signed by " + signer.uri()};
  };
  if (signer.kind != IdentityKind::kRamdisk) return refuse(EvidenceReason::kNotRamdisk);
  if (signer.site != expected.site) return refuse(EvidenceReason::kWrongSite);
  if (signer.node != expected.node) return refuse(EvidenceReason::kWrongNode);
  if (signer.generation != expected.generation) return refuse(EvidenceReason::kWrongGeneration);
  if (signer.run != expected.run) return refuse(EvidenceReason::kWrongRun);
  return {};
}

Checked<void> check_head(const ResultHead& head, const Expectation& expected, int64_t instant_ms) {
  TRY(check_context(expected.context, head.context));
  if (head.command != expected.command) {
    return EvidenceRefusal{EvidenceReason::kWrongCommand, head.command};
  }
  if (head.nonce != expected.nonce) return EvidenceRefusal{EvidenceReason::kWrongNonce, ""};
  if (head.started_at_ms > head.finished_at_ms ||
      head.finished_at_ms > instant_ms + limits::kEvidenceClockSkewMs) {
    return EvidenceRefusal{EvidenceReason::kWrongTime, "started or finished"};
  }
  return {};
}

Checked<ResultBody> check_inventory(const Json& body, const Expectation& expected) {
  auto report = TRY_OR_REFUSE(InventoryReport::from_json(body), kMalformed);
  if (expected.manifest) TRY(check_disks(*expected.manifest, report.disks));
  if (expected.gpus) {
    std::vector<std::string> serials;
    for (const Gpu& gpu : report.gpus) serials.push_back(gpu.serial);
    TRY(check_gpus(*expected.gpus, serials));
  }
  return ResultBody(std::move(report));
}

Checked<ResultBody> check_body(const Json& body, const Expectation& expected) {
  switch (expected.kind) {
    case ResultKind::kInventory:
      return check_inventory(body, expected);
    case ResultKind::kDiskWipe: {
      auto report = TRY_OR_REFUSE(DiskWipeReport::from_json(body), kMalformed);
      TRY(check_wipe_report(report, expected.manifest.value_or(DiskManifest{}), expected.wipe));
      return ResultBody(std::move(report));
    }
    case ResultKind::kDiagnosis: {
      auto report = TRY_OR_REFUSE(DiagnosisReport::from_json(body), kMalformed);
      // A diagnosis expected of unknown GPUs cannot pass.
      if (!expected.gpus) return EvidenceRefusal{EvidenceReason::kWrongGpus, "none known"};
      TRY(check_diagnosis(report, *expected.gpus, expected.diagnosis_level));
      return ResultBody(std::move(report));
    }
  }
  return EvidenceRefusal{EvidenceReason::kWrongPredicate, ""};
}

std::vector<Subject> expected_subjects(const Expectation& expected) {
  if (expected.kind != ResultKind::kDiskWipe) return {expected.context.node_subject()};
  return expected.manifest.value_or(DiskManifest{}).subjects();
}

}  // namespace

Checked<VerifiedResult> verify_result(const SignedEnvelope& result, const Expectation& expectation,
                                      const Anchors& anchors, int64_t instant_ms) {
  if (result.envelope.payload_type != kInTotoPayloadType) {
    return EvidenceRefusal{EvidenceReason::kWrongPayloadType, result.envelope.payload_type};
  }
  Judgement judgement = TRY(check_signer(result, Verb::kAttest, anchors, instant_ms));
  TRY(check_identity(judgement.identity, expectation.context));
  Statement statement = TRY(parse_statement(result.envelope.payload));
  if (statement.predicate_type != predicate_type(expectation.kind)) {
    return EvidenceRefusal{EvidenceReason::kWrongPredicate, statement.predicate_type};
  }
  VerifiedResult verified;
  Json body = std::move(statement.predicate);
  verified.head = TRY_OR_REFUSE(take_head(body), kMalformed);
  TRY(check_head(verified.head, expectation, instant_ms));
  TRY(check_subjects(expected_subjects(expectation), statement.subjects));
  verified.kind = expectation.kind;
  verified.body = TRY(check_body(body, expectation));
  verified.digest = result.envelope.digest();
  verified.signer = judgement.identity;
  verified.leaf_serial = judgement.leaf_serial;
  verified.site_ca_sha256 = judgement.site_ca_sha256;
  return verified;
}

Result<DsseEnvelope> sign_result(const std::string& private_key_pem, ResultKind kind,
                                 const std::vector<Subject>& subjects, const ResultHead& head,
                                 const Json& body) {
  Statement statement{subjects, predicate_type(kind), join_predicate(head, body)};
  std::string text = TRY_WITH(statement.text(), "result");
  return dsse_sign(private_key_pem, kInTotoPayloadType, text);
}

}  // namespace leasehold
