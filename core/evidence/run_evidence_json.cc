#include <set>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/evidence/disk_words.h"
#include "core/evidence/run_evidence.h"

namespace leasehold {
namespace {

constexpr Words<FirmwareAtWipe, 4> kAtWipeWords = {{{FirmwareAtWipe::kUnchecked, "unchecked"},
                                                    {FirmwareAtWipe::kBaseline, "baseline"},
                                                    {FirmwareAtWipe::kDrifted, "drifted"},
                                                    {FirmwareAtWipe::kReflashed, "reflashed"}}};

// One boot nonce per pass, and no two passes share a boot.
Status check_boot_nonces(const std::vector<std::string>& nonces) {
  std::set<std::string> seen;
  for (const std::string& nonce : nonces) {
    if (!nonce.empty() && base64_decode(nonce).ok() && seen.insert(nonce).second) continue;
    return Error(Code::kMalformed, "boot_nonces: empty, not base64 or twice", "boot_nonces");
  }
  return {};
}

Json steps_to_json(const std::vector<EvidenceStep>& steps) {
  Json out = Json::array();
  for (const EvidenceStep& step : steps) {
    out.push_back({{"place", step.place},
                   {"pass", step.pass},
                   {"attempt", step.attempt},
                   {"at", format_time(step.at_ms)}});
  }
  return out;
}

Json results_to_json(const std::vector<EvidenceResult>& results) {
  Json out = Json::array();
  for (const EvidenceResult& result : results) {
    out.push_back({{"place", result.place},
                   {"pass", result.pass},
                   {"attempt", result.attempt},
                   {"command", result.command},
                   {"nonce", result.nonce},
                   {"kind", result_kind_name(result.kind)},
                   {"digest", result.digest}});
  }
  return out;
}

Json observers_to_json(const std::vector<EvidenceObserver>& observers) {
  Json out = Json::array();
  for (const EvidenceObserver& each : observers) {
    out.push_back({{"who", each.who}, {"says", each.says}, {"independence", each.independence}});
  }
  return out;
}

}  // namespace

std::string_view firmware_at_wipe_name(FirmwareAtWipe at_wipe) {
  return word_of(kAtWipeWords, at_wipe);
}

Result<EvidencePolicy> EvidencePolicy::from_json(const Json& json) {
  StrictObject object(
      json, "policy",
      {"pool", "revision", "firmware_baseline", "wipe_minimum", "readback", "minimum_binding"});
  EvidencePolicy policy;
  policy.pool = object.filled("pool");
  policy.revision = object.count("revision");
  policy.firmware_baseline = object.text_map("firmware_baseline");
  policy.wipe.minimum = object.word("wipe_minimum", kWipeMinimumWords);
  policy.wipe.readback = object.word("readback", kExtentWords);
  policy.minimum_binding = object.text("minimum_binding");
  if (binding_strength(policy.minimum_binding) == 0) {
    object.fail("minimum_binding", "has an unknown word");
  }
  TRY(object.status());
  return policy;
}

Json EvidencePolicy::to_json() const {
  return {{"pool", pool},
          {"revision", revision},
          {"firmware_baseline", firmware_baseline},
          {"wipe_minimum", method_name(wipe.minimum)},
          {"readback", readback_extent_name(wipe.readback)},
          {"minimum_binding", minimum_binding}};
}

Result<EvidenceStep> EvidenceStep::from_json(const Json& json) {
  StrictObject object(json, "step", {"place", "pass", "attempt", "at"});
  EvidenceStep step{object.filled("place"), object.count("pass"), object.count("attempt"),
                    object.time("at")};
  TRY(object.status());
  return step;
}

Result<EvidenceResult> EvidenceResult::from_json(const Json& json) {
  StrictObject object(json, "result",
                      {"place", "pass", "attempt", "command", "nonce", "kind", "digest"});
  EvidenceResult result;
  result.place = object.filled("place");
  result.pass = object.count("pass");
  result.attempt = object.count("attempt");
  result.command = object.filled("command");
  result.nonce = object.nonce("nonce");
  result.digest = object.digest("digest");
  TRY(object.status());
  result.kind = TRY(parse_result_kind(object.text("kind")));
  return result;
}

Result<EvidenceFirmware> EvidenceFirmware::from_json(const Json& json) {
  StrictObject object(json, "firmware", {"at_wipe", "found", "listed"});
  EvidenceFirmware firmware{object.word("at_wipe", kAtWipeWords), object.text_map("found"),
                            object.text_map("listed")};
  TRY(object.status());
  return firmware;
}

Json EvidenceFirmware::to_json() const {
  return {{"at_wipe", firmware_at_wipe_name(at_wipe)}, {"found", found}, {"listed", listed}};
}

Result<EvidenceObserver> EvidenceObserver::from_json(const Json& json) {
  StrictObject object(json, "observer", {"who", "says", "independence"});
  EvidenceObserver observer{object.text("who"), object.text("says"), object.text("independence")};
  TRY(object.status());
  return observer;
}

Json RunEvidence::to_json() const {
  return {{"site", site},
          {"domain", domain},
          {"node", node},
          {"lease", lease},
          {"generation", generation},
          {"run", run},
          {"workflow", workflow},
          {"binding", binding},
          {"image", image},
          {"boot_nonces", boot_nonces},
          {"policy", policy.to_json()},
          {"manifest", manifest.to_json()},
          {"gpus", gpus},
          {"steps", steps_to_json(steps)},
          {"results", results_to_json(results)},
          {"firmware", firmware.to_json()},
          {"observers", observers_to_json(observers)},
          {"seq", seq},
          {"prev", prev},
          {"at", format_time(at_ms)},
          {"verdict", verdict}};
}

Result<RunEvidence> RunEvidence::from_json(const Json& predicate) {
  StrictObject object(
      predicate, "run evidence",
      {"site",    "domain",   "node",        "lease",  "generation", "run",  "workflow",
       "binding", "image",    "boot_nonces", "policy", "manifest",   "gpus", "steps",
       "results", "firmware", "observers",   "seq",    "prev",       "at",   "verdict"});
  RunEvidence out;
  out.site = object.filled("site");
  out.domain = object.filled("domain");
  out.node = object.filled("node");
  out.lease = object.text("lease");
  out.generation = object.count("generation");
  out.run = object.filled("run");
  out.workflow = object.filled("workflow");
  out.binding = object.filled("binding");
  out.image = object.filled("image");
  out.boot_nonces = object.texts("boot_nonces");
  out.policy = object.nested<EvidencePolicy>("policy", EvidencePolicy::from_json);
  out.manifest = TRY(DiskManifest::from_json(object.array("manifest")));
  out.gpus = object.texts("gpus");
  out.steps = object.list<EvidenceStep>("steps", EvidenceStep::from_json);
  out.results = object.list<EvidenceResult>("results", EvidenceResult::from_json);
  out.firmware = object.nested<EvidenceFirmware>("firmware", EvidenceFirmware::from_json);
  out.observers = object.list<EvidenceObserver>("observers", EvidenceObserver::from_json);
  out.seq = object.count("seq");
  out.prev = object.text("prev");
  if (!out.prev.empty()) out.prev = object.digest("prev");
  out.at_ms = object.time("at");
  out.verdict = object.text("verdict");
  TRY(object.status());
  TRY(check_boot_nonces(out.boot_nonces));
  return out;
}

}  // namespace leasehold
