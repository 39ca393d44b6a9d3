#include "core/evidence/bundle.h"

#include "core/evidence/strict_object.h"

namespace leasehold {
namespace {

constexpr std::string_view kType = "leasehold-evidence-bundle";
constexpr int64_t kSchema = 1;

}  // namespace

Result<std::string> Bundle::text() const {
  Json list = Json::array();
  for (const SignedEnvelope& result : results) list.push_back(result.to_json());
  std::string out = TRY(canonical_json({{"type", kType},
                                        {"schema", kSchema},
                                        {"site", site},
                                        {"domain", domain},
                                        {"node", node},
                                        {"lease", lease},
                                        {"run", run},
                                        {"evidence", evidence.to_json()},
                                        {"results", list},
                                        {"receipt", receipt}}));
  return out + "\n";
}

Result<Bundle> make_bundle(SignedEnvelope evidence, std::vector<SignedEnvelope> results) {
  auto parsed = parse_run_evidence(evidence.envelope);
  if (!parsed.ok()) return Error(Code::kMalformed, "run evidence: " + parsed.error().text());
  const RunEvidence& run = parsed.value();
  return Bundle{run.site, run.domain,          run.node,           run.lease,
                run.run,  std::move(evidence), std::move(results), Json()};
}

Checked<Bundle> parse_bundle(std::string_view bytes) {
  constexpr auto kMalformed = EvidenceReason::kMalformed;
  Json json = TRY_OR_REFUSE(parse_json(bytes, limits::kEvidenceBytes), kMalformed);
  StrictObject object(json, "bundle",
                      {"type", "schema", "site", "domain", "node", "lease", "run", "evidence",
                       "results", "receipt"});
  if (object.text("type") != kType) object.fail("type", "is not that of an evidence bundle");
  if (object.number("schema") != kSchema) object.fail("schema", "is not 1");
  Bundle bundle;
  bundle.site = object.text("site");
  bundle.domain = object.text("domain");
  bundle.node = object.text("node");
  bundle.lease = object.text("lease");
  bundle.run = object.text("run");
  bundle.evidence = object.nested<SignedEnvelope>("evidence", SignedEnvelope::from_json);
  bundle.results = object.list<SignedEnvelope>("results", SignedEnvelope::from_json);
  TRY_OR_REFUSE(object.status(), kMalformed);
  bundle.receipt = json["receipt"];
  std::string again = TRY_OR_REFUSE(bundle.text(), EvidenceReason::kNotCanonical);
  if (again != bytes) return EvidenceRefusal{EvidenceReason::kNotCanonical, "bundle"};
  return bundle;
}

}  // namespace leasehold
