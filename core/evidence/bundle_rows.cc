#include "core/evidence/bundle_rows.h"

#include <map>

#include "core/evidence/bundle.h"

namespace leasehold {

Result<std::string> bundle_of(const std::vector<ResultRow>& rows, Json receipt) {
  const ResultRow* evidence_row = nullptr;
  std::map<std::string, const ResultRow*> by_digest;
  for (const ResultRow& row : rows) {
    if (row.kind == "run") {
      evidence_row = &row;
    } else {
      by_digest[row.digest] = &row;
    }
  }
  if (evidence_row == nullptr) {
    return Error(Code::kNotFound, "this run has signed no evidence (yet)");
  }
  auto signed_of = [](const ResultRow& row) {
    return SignedEnvelope::from_json(Json{{"envelope", row.envelope}, {"chain", row.chain}});
  };
  SignedEnvelope evidence = TRY(signed_of(*evidence_row));
  Checked<RunEvidence> content = parse_run_evidence(evidence.envelope);
  if (!content.ok()) return content.error().to_error();
  std::vector<SignedEnvelope> envelopes;
  for (const EvidenceResult& result : content.value().results) {
    auto it = by_digest.find(result.digest);
    if (it == by_digest.end()) {
      return Error(Code::kNotFound, "the result " + result.command + " is missing");
    }
    envelopes.push_back(TRY(signed_of(*it->second)));
  }
  Bundle bundle = TRY(make_bundle(std::move(evidence), std::move(envelopes)));
  bundle.receipt = std::move(receipt);
  return bundle.text();
}

}  // namespace leasehold
