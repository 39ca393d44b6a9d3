#include "pxe/ramdisk/executor.h"

#include "core/base/limits.h"
#include "pxe/ramdisk/diagnose.h"
#include "pxe/ramdisk/hardware.h"
#include "pxe/ramdisk/tool.h"
#include "pxe/ramdisk/wipe_disks.h"

#ifndef LEASEHOLD_VERSION
#define LEASEHOLD_VERSION "unknown"
#endif

namespace leasehold {
namespace {

// "nvme version 2.3 (git 2.3)"; absent if the tool does not say it.
void add_nvme_version(ResultHead& head) {
  ToolRun run = run_tool({"nvme", "version"}, limits::kRamdiskToolMs);
  std::string line = printable(trimmed(run.out.substr(0, run.out.find('\n'))), 64);
  if (run.ok() && !line.empty()) head.tool_versions["nvme"] = line;
}

}  // namespace

Result<Executor::Outcome> Executor::perform(const Command& command, ResultHead& head) {
  Outcome outcome;
  outcome.subjects = {command.context.node_subject()};
  if (command.verb == "inventory") {
    outcome.kind = ResultKind::kInventory;
    outcome.body = take_inventory(root_).to_json();
    add_nvme_version(head);
    return outcome;
  }
  if (command.verb == "disk.wipe") {
    WipeRequest request = TRY(parse_wipe_args(command.args));
    outcome.kind = ResultKind::kDiskWipe;
    if (!request.manifest.disks.empty()) outcome.subjects = request.manifest.subjects();
    outcome.body = wipe_disks(root_, request, clock_).to_json();
    add_nvme_version(head);
    return outcome;
  }
  if (command.verb == "diag.dcgm") {
    DiagnosisRequest request = TRY(parse_diagnosis_args(command.args));
    std::string dcgm_version;
    outcome.kind = ResultKind::kDiagnosis;
    outcome.body = diagnose(root_, request, dcgm_version).to_json();
    if (!dcgm_version.empty()) head.tool_versions["dcgm"] = dcgm_version;
    return outcome;
  }
  return Error(Code::kUnsupported, "unknown verb " + printable(command.verb, 64));
}

const std::string* Executor::kept(const std::string& id) const {
  for (const auto& [command, body] : kept_) {
    if (command == id) return &body;
  }
  return nullptr;
}

Result<std::string> Executor::run(const Command& command) {
  if (const std::string* body = kept(command.id)) return *body;
  ResultHead head;
  head.context = command.context;
  head.command = command.id;
  head.nonce = command.nonce;
  head.tool_versions["leasehold-ramdisk"] = LEASEHOLD_VERSION;
  head.started_at_ms = clock_.now_ms();
  Outcome outcome = TRY(perform(command, head));
  head.finished_at_ms = clock_.now_ms();
  DsseEnvelope envelope = TRY(
      sign_result(identity_.private_key_pem, outcome.kind, outcome.subjects, head, outcome.body));
  Json body = {
      {"command", command.id}, {"envelope", envelope.to_json()}, {"chain", identity_.chain_pem}};
  kept_.emplace_back(command.id, dump_json(body));
  if (kept_.size() > limits::kRamdiskKeptResults) kept_.pop_front();
  return kept_.back().second;
}

}  // namespace leasehold
