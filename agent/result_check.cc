#include "agent/result_check.h"

#include "core/base/log.h"

namespace leasehold {
namespace {

Result<Expectation> expectation_of(const NodeRow& node, const CommandRow& command) {
  Expectation expected;
  expected.kind = TRY(parse_result_kind(command.kind));
  expected.context = TRY(ResultContext::from_json(command.context));
  expected.command = command.command;
  expected.nonce = command.nonce;
  // Of a machine in its first enrolment nothing is known yet: what it shows is looked at by the
  // step.
  if (expected.kind == ResultKind::kInventory && node.state == NodeState::kEnrolling &&
      node.disks.empty()) {
    return expected;
  }
  // An inventory too must show exactly this machine: it comes before anything is erased, and it may
  // be another machine that booted.
  if (expected.kind != ResultKind::kDiagnosis) {
    expected.manifest = TRY(DiskManifest::from_json(node.disks));
  }
  if (expected.kind == ResultKind::kDiskWipe) {
    expected.wipe.minimum = TRY(parse_wipe_minimum(TRY(json_string(command.args, "wipe_minimum"))));
    expected.wipe.readback = TRY(parse_readback_extent(TRY(json_string(command.args, "readback"))));
  }
  if (expected.kind != ResultKind::kDiskWipe) {
    std::vector<std::string> serials;
    for (const Json& gpu : node.gpus) {
      if (!gpu.is_string()) return Error(Code::kInternal, "the node's GPUs are not serials");
      serials.push_back(gpu.get<std::string>());
    }
    expected.gpus = std::move(serials);
  }
  return expected;
}

Error refused(const CommandRow& command, const EvidenceRefusal& refusal) {
  log_line(LogEvent::kEvidenceRefused, Json{{"node", command.node.str()},
                                            {"run", command.run.str()},
                                            {"command", command.command},
                                            {"reason", refusal.text()}});
  return refusal.to_error();
}

}  // namespace

bool is_about_machine(EvidenceReason reason) {
  switch (reason) {
    // Made over another set of disks or GPUs than was commanded: not an answer to this command.
    case EvidenceReason::kWrongManifest:
    case EvidenceReason::kEmptyManifest:
    case EvidenceReason::kSubjectMismatch:
    case EvidenceReason::kWrongGpus:
      return false;
    default:
      break;
  }
  switch (reason) {
#define LEASEHOLD_CASE(enumerator, name, meaning) case EvidenceReason::enumerator:
    LEASEHOLD_EVIDENCE_REASONS_DISK(LEASEHOLD_CASE)
    LEASEHOLD_EVIDENCE_REASONS_GPU(LEASEHOLD_CASE)
#undef LEASEHOLD_CASE
    return true;
    default:
      return false;
  }
}

Result<CheckedResult> check_result(const Tools& tools, const NodeRow& node,
                                   const CommandRow& command, const Json& body, int64_t now_ms) {
  Json envelope = TRY(json_object(body, "envelope"));
  Json chain = TRY(json_array(body, "chain"));
  Result<SignedEnvelope> parsed =
      SignedEnvelope::from_json(Json{{"envelope", envelope}, {"chain", chain}});
  if (!parsed.ok()) {
    return refused(command, EvidenceRefusal{EvidenceReason::kMalformed, parsed.error().message});
  }
  Expectation expected = TRY(expectation_of(node, command));
  // Law tenant-never-attests: the verifier judges the envelope's own signer for kAttest, whoever
  // brought it here.
  Checked<VerifiedResult> verified =
      verify_result(parsed.value(), expected, tools.identity->anchors, now_ms);
  ResultRow row;
  row.result = command.command;
  row.node = command.node;
  row.run = command.run;
  row.pass = expected.context.pass;
  row.place = command.place;
  row.kind = command.kind;
  row.digest = parsed.value().envelope.digest();
  row.verdict = "PASS";
  row.envelope = envelope;
  row.chain = chain;
  row.at = format_time(now_ms);
  if (!verified.ok()) {
    if (!is_about_machine(verified.error().reason)) return refused(command, verified.error());
    row.verdict = "FAIL";
    row.reason = verified.error().text();
  }
  return CheckedResult{std::move(row)};
}

}  // namespace leasehold
