#include "core/evidence/run_evidence.h"

namespace leasehold {

int binding_strength(std::string_view binding) {
  if (binding == "network") return 1;
  if (binding == "vmedia") return 2;
  if (binding == "tpm") return 3;
  return 0;
}

ResultContext RunEvidence::context_of(const EvidenceResult& result) const {
  auto index = static_cast<size_t>(result.pass - 1);
  LEASEHOLD_CHECK(index < boot_nonces.size(), "a result of a pass without a boot nonce");
  return {.site = site,
          .node = node,
          .generation = generation,
          .lease = lease,
          .run = run,
          .pass = result.pass,
          .place = result.place,
          .attempt = result.attempt,
          .boot_nonce = boot_nonces[index],
          .binding = binding,
          .image = image,
          .policy_revision = policy.revision};
}

Result<DsseEnvelope> sign_run_evidence(const std::string& private_key_pem,
                                       const RunEvidence& evidence) {
  Statement statement{evidence.manifest.subjects(), std::string(kRunPredicate), evidence.to_json()};
  std::string text = TRY_WITH(statement.text(), "run evidence");
  // What would not be read again is not signed.
  TRY_WITH(RunEvidence::from_json(statement.predicate), "run evidence");
  return dsse_sign(private_key_pem, kInTotoPayloadType, text);
}

Checked<RunEvidence> parse_run_evidence(const DsseEnvelope& envelope) {
  if (envelope.payload_type != kInTotoPayloadType) {
    return EvidenceRefusal{EvidenceReason::kWrongPayloadType, envelope.payload_type};
  }
  Statement statement = TRY(parse_statement(envelope.payload));
  if (statement.predicate_type != kRunPredicate) {
    return EvidenceRefusal{EvidenceReason::kWrongPredicate, statement.predicate_type};
  }
  RunEvidence evidence =
      TRY_OR_REFUSE(RunEvidence::from_json(statement.predicate), EvidenceReason::kMalformed);
  TRY(check_subjects(evidence.manifest.subjects(), statement.subjects));
  return evidence;
}

}  // namespace leasehold
