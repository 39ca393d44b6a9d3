#include "core/evidence/signer.h"

namespace leasehold {
namespace {

EvidenceReason reason_of(const Judgement& judgement) {
  switch (judgement.refusal) {
    case ChainRefusal::kMalformed:
      return EvidenceReason::kChainMalformed;
    case ChainRefusal::kChainTooLong:
      return EvidenceReason::kChainTooLong;
    case ChainRefusal::kUntrusted:
      return EvidenceReason::kUntrusted;
    case ChainRefusal::kExpired:
      return EvidenceReason::kExpired;
    case ChainRefusal::kNotYetValid:
      return EvidenceReason::kNotYetValid;
    case ChainRefusal::kWrongIssuer:
      return EvidenceReason::kWrongIssuer;
    case ChainRefusal::kUnrecordedSiteCa:
      return EvidenceReason::kUnrecordedSiteCa;
    case ChainRefusal::kWrongSite:
      return EvidenceReason::kForeignSiteCa;
    case ChainRefusal::kBadUri:
      return EvidenceReason::kBadUri;
    case ChainRefusal::kNotALeaf:
      return EvidenceReason::kNotALeaf;
    case ChainRefusal::kForbiddenName:
      return EvidenceReason::kForbiddenName;
    case ChainRefusal::kKindMayNot:
      // Law 4 has its own name, so that an alarm can be raised on it.
      return judgement.identity.kind == IdentityKind::kNodeTenant
                 ? EvidenceReason::kTenantMayNotAttest
                 : EvidenceReason::kKindMayNot;
    case ChainRefusal::kWrongHost:  // no host is asked for here
      return EvidenceReason::kUntrusted;
  }
  return EvidenceReason::kUntrusted;
}

Checked<std::vector<std::string>> chain_to_der(const std::vector<std::string>& chain_pem) {
  std::vector<std::string> out;
  for (const std::string& pem : chain_pem) {
    auto ders = TRY_OR_REFUSE(pem_to_der(pem), EvidenceReason::kChainMalformed);
    if (ders.size() != 1) {
      return EvidenceRefusal{EvidenceReason::kChainMalformed,
                             "an element of the chain is not one certificate"};
    }
    if (der_to_pem(ders[0]) != pem) {
      return EvidenceRefusal{EvidenceReason::kNotCanonical, "a certificate's PEM text"};
    }
    out.push_back(std::move(ders[0]));
  }
  return out;
}

}  // namespace

Checked<Judgement> check_signer(const SignedEnvelope& signed_envelope, Verb verb,
                                const Anchors& anchors, int64_t instant_ms) {
  JudgeRequest request;
  request.chain_der = TRY(chain_to_der(signed_envelope.chain_pem));
  request.instant_ms = instant_ms;
  request.verb = verb;
  if (request.chain_der.empty()) {
    return EvidenceRefusal{EvidenceReason::kChainMalformed, "the chain is empty"};
  }
  // The judge would take a chain with or without the root; evidence has one form.
  auto root = TRY_OR_REFUSE(pem_to_der(anchors.root_pem), EvidenceReason::kUntrusted);
  if (root.empty() || request.chain_der.back() == root[0]) {
    return EvidenceRefusal{EvidenceReason::kChainMalformed, "the root is in the chain"};
  }
  Judgement judgement = judge(request, anchors);
  if (!judgement.allowed) return EvidenceRefusal{reason_of(judgement), judgement.detail};
  TRY_OR_REFUSE(dsse_verify(signed_envelope.envelope, judgement.public_key_pem),
                EvidenceReason::kBadSignature);
  return judgement;
}

}  // namespace leasehold
