#include "coordinator/cli/evidence_summary.h"

#include <algorithm>

#include "core/base/clock.h"
#include "core/base/harmless.h"

namespace leasehold {
namespace {

// A serial number must not be able to write "VERIFIED" on a line of its own.
std::string line(const std::string& name, const std::string& value) {
  std::string out = name;
  out.resize(std::max<size_t>(out.size() + 1, 11), ' ');
  return out + harmless(value) + "\n";
}

std::string disk_line(const DiskWipe& wipe) {
  return line("disk", wipe.disk.serial + ", " + wipe.disk.model + ", " +
                          std::to_string(wipe.disk.capacity_bytes) +
                          " bytes: " + std::string(method_name(wipe.method)) + ", " +
                          wipe.technique + "; read back " + std::to_string(wipe.readback.bytes) +
                          " bytes; " + std::string(verdict_name(wipe.verdict)));
}

std::string firmware_lines(const RunEvidence& evidence) {
  std::string out;
  BaselineComparison comparison =
      compare_baseline(evidence.policy.firmware_baseline, evidence.firmware.found);
  for (const ComponentComparison& each : comparison.components) {
    out += line("firmware", each.component + " " + each.found + ": " +
                                std::string(firmware_state_name(each.state)));
  }
  for (const auto& [component, version] : evidence.firmware.listed) {
    out += line("firmware", component + " " + version + ": listed, not in the baseline");
  }
  return out +
         line("", "at the wipe: " + std::string(firmware_at_wipe_name(evidence.firmware.at_wipe)));
}

std::string head_lines(const RunEvidence& evidence) {
  return line("site", evidence.site + "." + evidence.domain) +
         line("node", evidence.node + ", generation " + std::to_string(evidence.generation)) +
         line("lease", evidence.lease.empty() ? "none" : evidence.lease) +
         line("run", evidence.run + ", " + evidence.workflow) +
         line("policy", "pool " + evidence.policy.pool + ", revision " +
                            std::to_string(evidence.policy.revision) + ": wipe at least " +
                            std::string(method_name(evidence.policy.wipe.minimum)) +
                            ", read-back " +
                            std::string(readback_extent_name(evidence.policy.wipe.readback))) +
         line("binding", evidence.binding + ", image " + evidence.image);
}

std::string signed_lines(const VerifiedBundle& bundle) {
  const RunEvidence& evidence = bundle.evidence;
  std::string wiped;
  for (const VerifiedResult& result : bundle.results) {
    if (result.kind == ResultKind::kDiskWipe) wiped = result.signer.uri();
  }
  return line("wiped", format_time(bundle.wipe_head().finished_at_ms) + " by " + wiped) +
         line("signed", format_time(evidence.at_ms) + " by " + bundle.signer.uri() + ", serial " +
                            bundle.signer_serial) +
         line("evidence",
              "number " + std::to_string(evidence.seq) + " of the site, sha256 " + bundle.digest);
}

std::string joined_digests(const std::vector<std::string>& digests) {
  std::string out;
  for (const std::string& digest : digests) out += (out.empty() ? "" : ", ") + digest;
  return out;
}

// By whose word, and for which instant, the certificates were judged.
std::string basis_lines(const VerifiedBundle& bundle, const JudgedBy& by) {
  if (bundle.receipt.has_value()) {
    const Receipt& receipt = *bundle.receipt;
    return line("receipt", "the coordinator had it at " + format_time(receipt.time_ms) +
                               " and judged it for " + format_time(receipt.judged_at_ms)) +
           line("", "by site CA " + joined_digests(receipt.site_cas));
  }
  return "UNRECEIPTED: no coordinator vouches for the time or the site CA. Judged as you say: at " +
         format_time(by.instant_ms) + ", site CA " + by.site_ca_sha256 + "\n";
}

}  // namespace

std::string evidence_summary(const VerifiedBundle& bundle, const JudgedBy& by) {
  const RunEvidence& evidence = bundle.evidence;
  std::string out = head_lines(evidence);
  for (const DiskWipe& wipe : bundle.wipe().disks) out += disk_line(wipe);
  for (const ObservedGpu& each : bundle.diagnosis().observed_gpus) {
    out += line("GPU", each.gpu.serial + ", " + each.gpu.pci + ": diagnosis level " +
                           std::to_string(bundle.diagnosis().level) + " passed");
  }
  out += firmware_lines(evidence);
  for (const EvidenceObserver& each : evidence.observers) {
    out += line("observer", each.who + ": " + each.says + " (" + each.independence + ")");
  }
  out += signed_lines(bundle);
  out += basis_lines(bundle, by);
  return out + "VERIFIED\n";
}

std::string evidence_summary_json(const VerifiedBundle& bundle, const JudgedBy& by) {
  const RunEvidence& evidence = bundle.evidence;
  Json disks = Json::array();
  for (const DiskWipe& wipe : bundle.wipe().disks) {
    disks.push_back({{"serial", wipe.disk.serial},
                     {"wwn", wipe.disk.wwn},
                     {"model", wipe.disk.model},
                     {"capacity_bytes", wipe.disk.capacity_bytes},
                     {"method", method_name(wipe.method)},
                     {"technique", wipe.technique},
                     {"verdict", verdict_name(wipe.verdict)}});
  }
  const std::optional<Receipt>& receipt = bundle.receipt;
  Json out = {{"verdict", "VERIFIED"},
              {"receipt", receipt ? "RECEIPTED" : "UNRECEIPTED"},
              {"received_at", receipt ? format_time(receipt->time_ms) : ""},
              {"judged_at", format_time(receipt ? receipt->judged_at_ms : by.instant_ms)},
              {"site_cas", receipt ? Json(receipt->site_cas) : Json::array({by.site_ca_sha256})},
              {"site", evidence.site},
              {"domain", evidence.domain},
              {"node", evidence.node},
              {"generation", evidence.generation},
              {"lease", evidence.lease},
              {"run", evidence.run},
              {"workflow", evidence.workflow},
              {"disks", disks},
              {"gpus", evidence.gpus},
              {"firmware", evidence.firmware.to_json()},
              {"signer", bundle.signer.uri()},
              {"signer_serial", bundle.signer_serial},
              {"at", format_time(evidence.at_ms)},
              {"seq", evidence.seq},
              {"digest", bundle.digest}};
  return harmless_json(dump_json_pretty(out)) + "\n";
}

std::string refusal_summary(const EvidenceRefusal& refusal) {
  std::string out = "REFUSED " + std::string(evidence_reason_name(refusal.reason)) + "\n" +
                    std::string(evidence_reason_meaning(refusal.reason)) + "\n";
  if (!refusal.detail.empty()) out += harmless(refusal.detail) + "\n";
  return out;
}

std::string refusal_summary_json(const EvidenceRefusal& refusal) {
  Json out = {{"verdict", "REFUSED"},
              {"reason", evidence_reason_name(refusal.reason)},
              {"meaning", evidence_reason_meaning(refusal.reason)},
              {"detail", refusal.detail}};
  return harmless_json(dump_json_pretty(out)) + "\n";
}

}  // namespace leasehold
