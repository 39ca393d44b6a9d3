#include "core/evidence/refusal.h"

#include "core/base/harmless.h"
#include "core/base/limits.h"

namespace leasehold {

std::string_view evidence_reason_name(EvidenceReason reason) {
  switch (reason) {
#define LEASEHOLD_CASE(enumerator, name, meaning) \
  case EvidenceReason::enumerator:                \
    return name;
    LEASEHOLD_EVIDENCE_REASONS(LEASEHOLD_CASE)
#undef LEASEHOLD_CASE
  }
  return "?";
}

std::string_view evidence_reason_meaning(EvidenceReason reason) {
  switch (reason) {
#define LEASEHOLD_CASE(enumerator, name, meaning) \
  case EvidenceReason::enumerator:                \
    return meaning;
    LEASEHOLD_EVIDENCE_REASONS(LEASEHOLD_CASE)
#undef LEASEHOLD_CASE
  }
  return "?";
}

const std::vector<EvidenceReason>& all_evidence_reasons() {
  static const std::vector<EvidenceReason> kAll = {
#define LEASEHOLD_ITEM(enumerator, name, meaning) EvidenceReason::enumerator,
      LEASEHOLD_EVIDENCE_REASONS(LEASEHOLD_ITEM)
#undef LEASEHOLD_ITEM
  };
  return kAll;
}

EvidenceRefusal::EvidenceRefusal(EvidenceReason why, const std::string& which)
    : reason(why), detail(harmless(shortened_bytes(which, limits::kEvidenceDetailBytes))) {}

std::string EvidenceRefusal::text() const {
  std::string out(evidence_reason_name(reason));
  if (!detail.empty()) out += ": " + detail;
  return out;
}

Error EvidenceRefusal::to_error() const {
  return Error(Code::kEvidenceRefused, text(), std::string(evidence_reason_name(reason)));
}

}  // namespace leasehold
