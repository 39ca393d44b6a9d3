#include <algorithm>
#include <map>
#include <set>

#include "core/evidence/bundle.h"
#include "core/evidence/signer.h"

namespace leasehold {
namespace {

EvidenceRefusal refuse(EvidenceReason reason, std::string detail) {
  return {reason, std::move(detail)};
}

// The site-agent of that very site signed it, and the file's head tells the same story.
Checked<void> check_head(const Bundle& bundle, const RunEvidence& evidence, const Identity& signer,
                         const Anchors& anchors) {
  const struct {
    const char* what;
    const std::string& expected;
    const std::string& found;
    EvidenceReason reason;
  } members[] = {
      {"the root's domain", evidence.domain, anchors.domain, EvidenceReason::kWrongDomain},
      {"the signer's site", evidence.site, signer.site, EvidenceReason::kWrongSite},
      {"the file's domain", evidence.domain, bundle.domain, EvidenceReason::kWrongDomain},
      {"the file's site", evidence.site, bundle.site, EvidenceReason::kWrongSite},
      {"the file's node", evidence.node, bundle.node, EvidenceReason::kWrongNode},
      {"the file's lease", evidence.lease, bundle.lease, EvidenceReason::kWrongLease},
      {"the file's run", evidence.run, bundle.run, EvidenceReason::kWrongRun},
  };
  for (const auto& member : members) {
    if (member.expected == member.found) continue;
    return refuse(member.reason, std::string(member.what) + " is \"" + member.found +
                                     "\", the run evidence says \"" + member.expected + "\"");
  }
  return {};
}

// A release has a lease; an enrolment has none, and nothing else shows a machine without one.
Checked<void> check_workflow(const RunEvidence& evidence) {
  std::string name = evidence.workflow.substr(0, evidence.workflow.find('@'));
  bool release = name == "metal-tenant-root-release";
  if (!release && name != "metal-enrol") {
    return refuse(EvidenceReason::kWrongWorkflow, evidence.workflow);
  }
  if (release && evidence.lease.empty()) {
    return refuse(EvidenceReason::kWrongLease, "a release without a lease");
  }
  if (!release && !evidence.lease.empty()) {
    return refuse(EvidenceReason::kWrongLease, "an enrolment with a lease");
  }
  return {};
}

Checked<void> check_firmware(const RunEvidence& evidence) {
  const Versions& baseline = evidence.policy.firmware_baseline;
  TRY(check_baseline(baseline, evidence.firmware.found));
  for (const auto& [component, version] : evidence.firmware.listed) {
    if (baseline.count(component) == 0) continue;
    return refuse(EvidenceReason::kFirmwareUnknown,
                  component + " is in the baseline and also listed as outside it");
  }
  return {};
}

// What the run evidence claims by itself, without its results.
Checked<void> check_claims(const RunEvidence& evidence, int64_t instant_ms) {
  TRY(check_workflow(evidence));
  if (evidence.manifest.disks.empty()) return refuse(EvidenceReason::kEmptyManifest, "");
  int strength = binding_strength(evidence.binding);
  if (strength == 0) return refuse(EvidenceReason::kWrongBinding, evidence.binding);
  if (strength < binding_strength(evidence.policy.minimum_binding)) {
    return refuse(EvidenceReason::kBindingTooWeak, evidence.binding);
  }
  if (evidence.seq < 1 || (evidence.seq == 1) != evidence.prev.empty()) {
    return refuse(EvidenceReason::kBrokenSequence, "seq " + std::to_string(evidence.seq));
  }
  int64_t latest = instant_ms + limits::kEvidenceClockSkewMs;
  if (evidence.at_ms > latest) return refuse(EvidenceReason::kWrongTime, "signed in the future");
  for (const EvidenceStep& step : evidence.steps) {
    if (step.at_ms > evidence.at_ms + limits::kEvidenceClockSkewMs) {
      return refuse(EvidenceReason::kWrongTime, "step " + step.place + " after the signing");
    }
  }
  TRY(check_firmware(evidence));
  if (evidence.verdict != "clean") {
    return refuse(EvidenceReason::kVerdictNotClean, evidence.verdict.substr(0, 64));
  }
  return {};
}

// The results in the file are those that the run names: each once, in its order, and no other.
Checked<void> check_listing(const Bundle& bundle, const RunEvidence& evidence) {
  std::set<std::string> named, present;
  for (const EvidenceResult& result : evidence.results) {
    if (!named.insert(result.digest).second) {
      return refuse(EvidenceReason::kDuplicateResult, "named twice: " + result.digest);
    }
  }
  for (const SignedEnvelope& result : bundle.results) {
    std::string digest = result.envelope.digest();
    if (named.count(digest) == 0) return refuse(EvidenceReason::kUnlistedResult, digest);
    if (!present.insert(digest).second) return refuse(EvidenceReason::kDuplicateResult, digest);
  }
  for (const std::string& digest : named) {
    if (present.count(digest) == 0) return refuse(EvidenceReason::kMissingResult, digest);
  }
  for (size_t i = 0; i < evidence.results.size(); ++i) {
    if (bundle.results[i].envelope.digest() == evidence.results[i].digest) continue;
    return refuse(EvidenceReason::kResultsOutOfOrder, "at " + std::to_string(i));
  }
  return {};
}

bool has_step(const RunEvidence& evidence, const EvidenceResult& result) {
  for (const EvidenceStep& step : evidence.steps) {
    if (step.place == result.place && step.pass == result.pass) return true;
  }
  return false;
}

Checked<VerifiedResult> check_result(const SignedEnvelope& envelope, const EvidenceResult& listed,
                                     const RunEvidence& evidence, const Anchors& anchors,
                                     int64_t instant_ms) {
  if (listed.pass < 1 || static_cast<size_t>(listed.pass) > evidence.boot_nonces.size()) {
    return refuse(EvidenceReason::kWrongPass, "pass " + std::to_string(listed.pass));
  }
  if (!has_step(evidence, listed)) {
    return refuse(EvidenceReason::kWrongPlace, "no step " + listed.place);
  }
  Expectation expected;
  expected.kind = listed.kind;
  expected.context = evidence.context_of(listed);
  expected.command = listed.command;
  expected.nonce = listed.nonce;
  expected.manifest = evidence.manifest;
  expected.wipe = evidence.policy.wipe;
  expected.gpus = evidence.gpus;
  VerifiedResult result = TRY(verify_result(envelope, expected, anchors, instant_ms));
  if (result.head.finished_at_ms > evidence.at_ms + limits::kEvidenceClockSkewMs) {
    return refuse(EvidenceReason::kWrongTime, "a result finished after the signing");
  }
  return result;
}

// Only the last pass counts: a wipe before another boot shows nothing about the machine now.
Checked<void> check_last_pass(const RunEvidence& evidence) {
  auto last = static_cast<int64_t>(evidence.boot_nonces.size());
  std::map<ResultKind, int> count;
  for (const EvidenceResult& result : evidence.results) {
    if (result.pass == last) ++count[result.kind];
  }
  for (const auto& [kind, number] : count) {
    if (number == 1) continue;
    return refuse(EvidenceReason::kDuplicateResult,
                  std::string(result_kind_name(kind)) + " in one pass");
  }
  if (count[ResultKind::kDiskWipe] == 0) return refuse(EvidenceReason::kMissingWipe, "");
  if (count[ResultKind::kDiagnosis] == 0) return refuse(EvidenceReason::kMissingDiagnosis, "");
  return {};
}

// What the certificates of a bundle are judged by.
struct Basis {
  Anchors anchors;
  int64_t instant_ms = 0;
  std::optional<Receipt> receipt;
};

Checked<void> check_receipt_is_of(const Bundle& bundle, const RunEvidence& evidence,
                                  const Receipt& receipt) {
  if (receipt.digest != bundle.evidence.envelope.digest()) {
    return refuse(EvidenceReason::kReceiptMismatch, "its digest is " + receipt.digest);
  }
  if (receipt.site != evidence.site || receipt.run != evidence.run || receipt.seq != evidence.seq) {
    return refuse(EvidenceReason::kReceiptMismatch, "it names another site, run or number");
  }
  return {};
}

Checked<Basis> basis_of(const Bundle& bundle, const Anchors& anchors, int64_t instant_ms,
                        ReceiptRule rule) {
  if (bundle.receipt.is_null()) {
    if (rule == ReceiptRule::kRequired) return refuse(EvidenceReason::kNoReceipt, "");
    return Basis{anchors, instant_ms, {}};
  }
  Receipt receipt = TRY(check_receipt(bundle.receipt, anchors));
  Basis basis{{anchors.root_pem, anchors.domain, {}}, receipt.judged_at_ms, {}};
  for (const std::string& ca : receipt.site_cas) {
    basis.anchors.site_cas.emplace_back(receipt.site, ca);
  }
  basis.receipt = std::move(receipt);
  return basis;
}

}  // namespace

Checked<VerifiedBundle> verify_bundle(std::string_view bytes, const Anchors& anchors,
                                      int64_t instant_ms, ReceiptRule rule) {
  Bundle bundle = TRY(parse_bundle(bytes));
  Basis basis = TRY(basis_of(bundle, anchors, instant_ms, rule));
  Judgement judgement =
      TRY(check_signer(bundle.evidence, Verb::kSignRun, basis.anchors, basis.instant_ms));
  VerifiedBundle out;
  out.evidence = TRY(parse_run_evidence(bundle.evidence.envelope));
  if (basis.receipt) TRY(check_receipt_is_of(bundle, out.evidence, *basis.receipt));
  TRY(check_head(bundle, out.evidence, judgement.identity, basis.anchors));
  TRY(check_claims(out.evidence, basis.instant_ms));
  TRY(check_listing(bundle, out.evidence));
  for (size_t i = 0; i < bundle.results.size(); ++i) {
    out.results.push_back(TRY(check_result(bundle.results[i], out.evidence.results[i], out.evidence,
                                           basis.anchors, basis.instant_ms)));
  }
  TRY(check_last_pass(out.evidence));
  out.digest = bundle.evidence.envelope.digest();
  out.signer = judgement.identity;
  out.signer_serial = judgement.leaf_serial;
  out.receipt = std::move(basis.receipt);
  return out;
}

namespace {

// check_last_pass has shown that it is there, exactly once.
const VerifiedResult& result_of(const VerifiedBundle& bundle, ResultKind kind) {
  auto last = static_cast<int64_t>(bundle.evidence.boot_nonces.size());
  for (const VerifiedResult& result : bundle.results) {
    if (result.kind == kind && result.head.context.pass == last) return result;
  }
  check_failed(__FILE__, __LINE__, "result_of", "a verified bundle without its result");
}

}  // namespace

const DiskWipeReport& VerifiedBundle::wipe() const {
  return std::get<DiskWipeReport>(result_of(*this, ResultKind::kDiskWipe).body);
}

const DiagnosisReport& VerifiedBundle::diagnosis() const {
  return std::get<DiagnosisReport>(result_of(*this, ResultKind::kDiagnosis).body);
}

const ResultHead& VerifiedBundle::wipe_head() const {
  return result_of(*this, ResultKind::kDiskWipe).head;
}

std::vector<std::string> VerifiedBundle::site_cas() const {
  std::vector<std::string> cas;
  for (const VerifiedResult& result : results) {
    if (std::find(cas.begin(), cas.end(), result.site_ca_sha256) == cas.end()) {
      cas.push_back(result.site_ca_sha256);
    }
  }
  return cas;
}

}  // namespace leasehold
