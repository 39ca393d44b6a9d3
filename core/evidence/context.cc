#include "core/evidence/statement.h"
#include "core/evidence/strict_object.h"
#include "core/tls/crypto.h"

namespace leasehold {

Json ResultContext::to_json() const {
  return {{"site", site},       {"node", node},       {"generation", generation},
          {"lease", lease},     {"run", run},         {"pass", pass},
          {"place", place},     {"attempt", attempt}, {"boot_nonce", boot_nonce},
          {"binding", binding}, {"image", image},     {"policy_revision", policy_revision}};
}

Result<ResultContext> ResultContext::from_json(const Json& json) {
  StrictObject object(json, "context",
                      {"site", "node", "generation", "lease", "run", "pass", "place", "attempt",
                       "boot_nonce", "binding", "image", "policy_revision"});
  ResultContext context;
  context.site = object.filled("site");
  context.node = object.filled("node");
  context.generation = object.count("generation");
  context.lease = object.text("lease");
  context.run = object.filled("run");
  context.pass = object.count("pass");
  context.place = object.filled("place");
  context.attempt = object.count("attempt");
  context.boot_nonce = object.nonce("boot_nonce");
  context.binding = object.filled("binding");
  context.image = object.filled("image");
  context.policy_revision = object.count("policy_revision");
  TRY(object.status());
  return context;
}

Subject ResultContext::node_subject() const {
  return {"node:" + node, sha256_hex(dump_json(to_json()))};
}

Checked<void> check_context(const ResultContext& expected, const ResultContext& found) {
  // In a fixed order; both sides as text, for the detail.
  struct Member {
    std::string expected, found;
    EvidenceReason reason;
  };
  auto number = [](int64_t value) { return std::to_string(value); };
  const Member members[] = {
      {expected.site, found.site, EvidenceReason::kWrongSite},
      {expected.node, found.node, EvidenceReason::kWrongNode},
      {number(expected.generation), number(found.generation), EvidenceReason::kWrongGeneration},
      {expected.lease, found.lease, EvidenceReason::kWrongLease},
      {expected.run, found.run, EvidenceReason::kWrongRun},
      {number(expected.pass), number(found.pass), EvidenceReason::kWrongPass},
      {expected.place, found.place, EvidenceReason::kWrongPlace},
      {number(expected.attempt), number(found.attempt), EvidenceReason::kWrongAttempt},
      {expected.boot_nonce, found.boot_nonce, EvidenceReason::kWrongBootNonce},
      {expected.binding, found.binding, EvidenceReason::kWrongBinding},
      {expected.image, found.image, EvidenceReason::kWrongImage},
      {number(expected.policy_revision), number(found.policy_revision),
       EvidenceReason::kWrongPolicy},
  };
  for (const Member& member : members) {
    if (member.expected == member.found) continue;
    return EvidenceRefusal{member.reason, "context says \"" + member.found + "\", expected \"" +
                                              member.expected + "\""};
  }
  return {};
}

}  // namespace leasehold
