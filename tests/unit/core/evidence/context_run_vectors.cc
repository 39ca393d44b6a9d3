#include "tests/unit/core/evidence/vectors.h"

namespace leasehold::test {
namespace {

using R = EvidenceReason;
using Change = std::function<void(Case&)>;

// The wipe repeats another context; the run evidence keeps what was commanded.
Change context(std::function<void(ResultContext&)> change) {
  return [=](Case& c) {
    ResultContext commanded = c.run.wipe.head.context;
    change(c.run.wipe.head.context);
    c.edit = [=](RunEvidence& evidence) {
      evidence.results[1].place = commanded.place;
      evidence.results[1].pass = commanded.pass;
      evidence.results[1].attempt = commanded.attempt;
    };
  };
}

Change certificate(std::function<void(Identity&)> change) {
  return [=](Case& c) {
    Identity identity = ramdisk_identity();
    change(identity);
    c.run.wipe.signer = c.run.pki.sign_in(identity);
  };
}

Change evidence(std::function<void(RunEvidence&)> change) {
  return [=](Case& c) { c.edit = change; };
}

Change file(std::function<void(Bundle&)> change) {
  return [=](Case& c) { c.after = change; };
}

std::vector<Vector> place_vectors() {
  return {
      {R::kWrongSite, "context", context([](auto& c) { c.site = "s2"; })},
      {R::kWrongSite, "head of the file", file([](Bundle& b) { b.site = "s2"; })},
      {R::kWrongSite, "run evidence signed by another site's agent",
       [](Case& c) {
         Identity agent = site_agent_identity();
         agent.site = "s2";
         c.run.agent = c.run.pki.sign_in(agent);
       }},
      {R::kWrongNode, "context", context([](auto& c) { c.node = "n2"; })},
      {R::kWrongNode, "certificate", certificate([](Identity& i) { i.node = "n2"; })},
      {R::kWrongNode, "head of the file", file([](Bundle& b) { b.node = "n2"; })},
      {R::kWrongGeneration, "context", context([](auto& c) { c.generation = 3; })},
      {R::kWrongGeneration, "certificate", certificate([](Identity& i) { i.generation = 3; })},
      {R::kWrongLease, "context", context([](auto& c) { c.lease = "l-2"; })},
      {R::kWrongLease, "head of the file", file([](Bundle& b) { b.lease = "l-2"; })},
      {R::kWrongLease, "a release without a lease", evidence([](auto& e) { e.lease = ""; })},
      {R::kWrongRun, "context", context([](auto& c) { c.run = "r-2"; })},
      {R::kWrongRun, "certificate", certificate([](Identity& i) { i.run = "r-2"; })},
      {R::kWrongRun, "head of the file", file([](Bundle& b) { b.run = "r-2"; })},
      {R::kWrongPass, "context", context([](auto& c) { c.pass = 2; })},
      {R::kWrongPass, "no boot nonce", evidence([](auto& e) { e.results[1].pass = 2; })},
      {R::kWrongPass, "pass 0", evidence([](auto& e) { e.results[1].pass = 0; })},
      {R::kWrongPlace, "context", context([](auto& c) { c.place = "diag.dcgm"; })},
      {R::kWrongPlace, "no such step",
       evidence([](auto& e) { e.steps.erase(e.steps.begin() + 2); })},
      {R::kWrongAttempt, "context", context([](auto& c) { c.attempt = 2; })},
  };
}

std::vector<Vector> binding_vectors() {
  return {
      {R::kWrongDomain, "evidence of another domain",
       evidence([](auto& e) { e.domain = "example.org"; })},
      {R::kWrongDomain, "head of the file", file([](Bundle& b) { b.domain = "example.org"; })},
      {R::kWrongBootNonce, "context", context([](auto& c) { c.boot_nonce = "AAAA"; })},
      {R::kWrongBinding, "context", context([](auto& c) { c.binding = "tpm"; })},
      {R::kWrongBinding, "a word that is none", evidence([](auto& e) { e.binding = "rumour"; })},
      {R::kBindingTooWeak, "policy asks for vmedia",
       evidence([](auto& e) { e.policy.minimum_binding = "vmedia"; })},
      {R::kWrongImage, "context", context([](auto& c) { c.image = std::string(64, '0'); })},
      {R::kWrongPolicy, "context", context([](auto& c) { c.policy_revision = 6; })},
      {R::kWrongCommand, "command", evidence([](auto& e) { e.results[1].command = "c-9"; })},
      {R::kWrongNonce, "nonce", evidence([](auto& e) { e.results[1].nonce = "AAAA"; })},
      {R::kWrongTime, "a wipe that ended before it began",
       [](Case& c) { c.run.wipe.head.finished_at_ms = c.run.wipe.head.started_at_ms - 1; }},
      {R::kWrongTime, "a wipe that ended after the signing",
       [](Case& c) {
         c.run.wipe.head.finished_at_ms = kNow;
         c.run.evidence.at_ms = kNow - kHour / 2;
       }},
      {R::kWrongTime, "a wipe of the future",
       [](Case& c) { c.run.wipe.head.finished_at_ms = kNow + kHour; }},
      {R::kWrongTime, "signed in the future", evidence([](auto& e) { e.at_ms = kNow + kHour; })},
      {R::kWrongTime, "a step after the signing",
       evidence([](auto& e) { e.steps[0].at_ms = kNow + kHour; })},
  };
}

std::vector<Vector> claim_vectors() {
  return {
      {R::kWrongWorkflow, "an inspection",
       evidence([](auto& e) { e.workflow = "metal-inspect@1"; })},
      {R::kNoBaseline, "no baseline",
       evidence([](auto& e) { e.policy.firmware_baseline.clear(); })},
      {R::kFirmwareDrift, "another version",
       evidence([](auto& e) { e.firmware.found["bios"] = "2.4.0"; })},
      {R::kFirmwareUnknown, "an absent component",
       evidence([](auto& e) { e.firmware.found.erase("bmc"); })},
      {R::kFirmwareUnknown, "an empty version",
       evidence([](auto& e) { e.firmware.found["bmc"] = ""; })},
      {R::kFirmwareUnknown, "also listed",
       evidence([](auto& e) { e.firmware.listed["bmc"] = "1"; })},
      {R::kBrokenSequence, "seq 0", evidence([](auto& e) { e.seq = 0; })},
      {R::kBrokenSequence, "no former digest", evidence([](auto& e) { e.prev = ""; })},
      {R::kBrokenSequence, "the first with a former digest", evidence([](auto& e) { e.seq = 1; })},
      {R::kVerdictNotClean, "unverified", evidence([](auto& e) { e.verdict = "unverified"; })},
      {R::kNoReceipt, "a receipt is asked for", [](Case& c) { c.rule = ReceiptRule::kRequired; }},
      {R::kReceiptUnreadable, "a receipt", file([](Bundle& b) { b.receipt = Json::object(); })},
      {R::kReceiptUntrusted, "a receipt by the site",
       [](Case& c) {
         c.after = [pki = c.run.pki](Bundle& b) {
           b.receipt = signed_receipt(pki, make_receipt(pki, b), site_agent_identity());
         };
       }},
      {R::kReceiptMismatch, "the receipt of another run",
       [](Case& c) {
         c.after = [pki = c.run.pki](Bundle& b) {
           Receipt receipt = make_receipt(pki, b);
           receipt.digest = std::string(64, 'd');
           b.receipt = signed_receipt(pki, receipt);
         };
       }},
  };
}

std::vector<Vector> listing_vectors() {
  return {
      {R::kMissingResult, "the last one is away", file([](Bundle& b) { b.results.pop_back(); })},
      {R::kUnlistedResult, "the same report signed once more",
       [](Case& c) {
         SignedEnvelope again = sign_part(c.run.wipe);
         c.after = [=](Bundle& b) { b.results.push_back(again); };
       }},
      {R::kDuplicateResult, "twice in the file",
       file([](Bundle& b) { b.results.push_back(b.results[0]); })},
      {R::kDuplicateResult, "named twice",
       evidence([](auto& e) { e.results.push_back(e.results[0]); })},
      {R::kDuplicateResult, "two wipes in one pass",
       [](Case& c) {
         c.run.inventory = c.run.wipe;
         c.run.inventory.head.command = "c-9";
       }},
      {R::kResultsOutOfOrder, "swapped",
       file([](Bundle& b) { std::swap(b.results[0], b.results[1]); })},
      // Both vectors drop the result from the run evidence and from the file.
      {R::kMissingWipe, "no wipe",
       [](Case& c) {
         c.edit = [](RunEvidence& e) { e.results.erase(e.results.begin() + 1); };
         c.after = [](Bundle& b) { b.results.erase(b.results.begin() + 1); };
       }},
      {R::kMissingWipe, "a wipe only in the first of two passes",
       [](Case& c) { c.edit = [](RunEvidence& e) { e.boot_nonces.push_back("c2Vjb25k"); }; }},
      {R::kMissingDiagnosis, "no diagnosis",
       [](Case& c) {
         c.edit = [](RunEvidence& e) { e.results.pop_back(); };
         c.after = [](Bundle& b) { b.results.pop_back(); };
       }},
  };
}

std::vector<Vector> joined(std::vector<Vector> first, std::vector<Vector> second) {
  for (Vector& vector : second) first.push_back(std::move(vector));
  return first;
}

}  // namespace

std::vector<Vector> context_vectors() { return joined(place_vectors(), binding_vectors()); }
std::vector<Vector> run_vectors() { return joined(claim_vectors(), listing_vectors()); }

}  // namespace leasehold::test
