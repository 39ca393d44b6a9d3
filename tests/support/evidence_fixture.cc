#include "tests/support/evidence_fixture.h"

#include "core/base/bytes.h"

namespace leasehold::test {
namespace {

constexpr const char* kDomain = "example.net";
constexpr const char* kSite = "s1";
constexpr int64_t kMiB = 1 << 20;

ResultHead make_head(const RunEvidence& evidence, const std::string& place, int64_t minute) {
  EvidenceResult result;
  result.place = place;
  ResultHead head;
  head.context = evidence.context_of(result);
  head.command = "c-" + place.substr(0, 4);
  head.nonce = base64_encode(sha256(place));
  head.started_at_ms = kNow - kHour + minute * 60'000;
  head.finished_at_ms = head.started_at_ms + 30'000;
  head.tool_versions = {{"leasehold-ramdisk", "0.1.0"}, {"nvme", "2.3"}};
  return head;
}

DiskWipe make_wipe(const ManifestEntry& entry) {
  DiskWipe wipe;
  wipe.disk = entry;
  wipe.method = WipeMethod::kPurge;
  wipe.technique = "NVMe Format, SES 2 (cryptographic erase)";
  wipe.standard = "NIST SP 800-88 Rev. 1; IEEE 2883-2022";
  wipe.commands = {{{"nvme", "format", "/dev/nvme0n1", "--ses=2", "--force"},
                    0,
                    "Success formatting namespace:1\n"}};
  wipe.markers = {8, 0};
  wipe.readback = {4 * kMiB, 250'000, "00ff00ff", ReadbackClass::kZeros, 0, true};
  wipe.verdict = Verdict::kPass;
  return wipe;
}

DiskWipeReport make_wipe_report(const DiskManifest& manifest) {
  DiskWipeReport report;
  report.expected = manifest;
  report.observed = manifest.disks;
  for (const ManifestEntry& entry : manifest.disks) report.disks.push_back(make_wipe(entry));
  report.verdict = Verdict::kPass;
  return report;
}

std::vector<Gpu> make_gpus() {
  return {{"1000", "GPU-aaaa", "00000000:3B:00.0", "96.00.61.00.01"},
          {"1001", "GPU-bbbb", "00000000:5E:00.0", "96.00.61.00.01"}};
}

DiagnosisReport make_diagnosis_report() {
  DiagnosisReport report;
  report.level = 1;
  for (const Gpu& gpu : make_gpus()) {
    report.expected_gpus.push_back(gpu.serial);
    report.observed_gpus.push_back({gpu, 0});
    for (const char* name : {"Denylist", "NVML Library", "Inforom"}) {
      report.tests.push_back({name, gpu.serial, "Pass"});
    }
  }
  report.exit = 0;
  report.output_sha256 = sha256_hex("output");
  report.verdict = Verdict::kPass;
  return report;
}

RunEvidence make_evidence() {
  RunEvidence out;
  out.site = kSite;
  out.domain = kDomain;
  out.node = "n1";
  out.lease = "l-1";
  out.generation = 4;
  out.run = "r-1";
  out.workflow = "metal-tenant-root-release@1";
  out.binding = "network";
  out.image = sha256_hex("image");
  out.boot_nonces = {base64_encode("boot nonce of pass one, 32 bytes")};
  out.policy.pool = "h100";
  out.policy.revision = 7;
  out.policy.firmware_baseline = {{"bios", "2.4.1"}, {"bmc", "1.12.0"}};
  out.policy.wipe = {WipeMethod::kPurge, ReadbackExtent::kSample};
  out.manifest = make_manifest();
  out.gpus = {"1000", "1001"};
  int64_t minute = 0;
  for (const char* place : {"power.setPower", "metal.ensureRamdisk", "disk.wipe", "diag.dcgm"}) {
    out.steps.push_back({place, 1, 1, kNow - kHour + 60'000 * ++minute});
  }
  out.firmware.found = {{"bios", "2.4.1"}, {"bmc", "1.12.0"}};
  out.firmware.listed = {{"cpld", "7"}};
  out.observers = {{"bmc", "host is off", "none: the BMC is what is driven"}};
  out.seq = 12;
  out.prev = sha256_hex("the former envelope");
  out.at_ms = kNow - 60'000;
  return out;
}

}  // namespace

Validity around_now(int64_t before_ms, int64_t after_ms) {
  return {kNow - before_ms, kNow + after_ms};
}

Pki make_pki() {
  Pki pki;
  pki.root = issue_root(kDomain, around_now(24 * kHour, 10'000 * kHour)).value();
  pki.issuing = issue_issuing_ca(pki.root, kDomain, around_now(24 * kHour, 9'000 * kHour)).value();
  pki.site_ca =
      issue_site_ca(pki.issuing, kSite, kDomain, around_now(24 * kHour, 2'000 * kHour)).value();
  pki.site_ca_sha256 = certificate_sha256(pki.site_ca.certificate_pem).value();
  return pki;
}

Signer Pki::sign_in(const Identity& identity) const {
  bool under_site =
      identity.kind == IdentityKind::kRamdisk || identity.kind == IdentityKind::kNodeTenant;
  return sign_in(identity, under_site ? site_ca : issuing, around_now(12 * kHour, 12 * kHour));
}

Signer Pki::sign_in(const Identity& identity, const CaKey& issuer, const Validity& validity) const {
  Signer signer;
  signer.key = generate_key();
  LeafRequest request;
  request.identity = identity;
  request.csr_pem = make_csr(signer.key.private_key_pem).value();
  request.validity = validity;
  signer.chain_pem = split_chain(issue_leaf(issuer, request).value()).value();
  return signer;
}

Anchors Pki::anchors() const { return {root.certificate_pem, kDomain, {{kSite, site_ca_sha256}}}; }

Identity ramdisk_identity() {
  Identity identity = node_identity(IdentityKind::kRamdisk);
  identity.run = "r-1";
  return identity;
}

Identity site_agent_identity() {
  Identity identity;
  identity.kind = IdentityKind::kSiteAgent;
  identity.domain = kDomain;
  identity.site = kSite;
  return identity;
}

Identity node_identity(IdentityKind kind) {
  Identity identity = site_agent_identity();
  identity.kind = kind;
  identity.node = "n1";
  identity.generation = 4;
  return identity;
}

DiskManifest make_manifest() {
  return {{{"S1", "eui.0001", "Model A", 16 * kMiB, "nvme", HiddenAreas::kNone},
           {"S2", "", "Model B", 32 * kMiB, "nvme", HiddenAreas::kNone}}};
}

RunParts make_run(const Pki& pki) {
  RunParts run;
  run.pki = pki;
  run.evidence = make_evidence();
  run.agent = pki.sign_in(site_agent_identity());
  Signer ramdisk = pki.sign_in(ramdisk_identity());
  const RunEvidence& evidence = run.evidence;
  InventoryReport inventory{evidence.manifest.disks,
                            make_gpus(),
                            {"52:54:00:77:00:10"},
                            {"Acme", "X1", "SN1", "uuid-1", "BOARD1"}};
  run.inventory = {ResultKind::kInventory,
                   make_head(evidence, "metal.ensureRamdisk", 1),
                   inventory.to_json(),
                   {},
                   ramdisk};
  run.inventory.subjects = {run.inventory.head.context.node_subject()};
  run.wipe = {ResultKind::kDiskWipe, make_head(evidence, "disk.wipe", 2),
              make_wipe_report(evidence.manifest).to_json(), evidence.manifest.subjects(), ramdisk};
  run.diagnosis = {ResultKind::kDiagnosis,
                   make_head(evidence, "diag.dcgm", 3),
                   make_diagnosis_report().to_json(),
                   {},
                   ramdisk};
  run.diagnosis.subjects = {run.diagnosis.head.context.node_subject()};
  return run;
}

DiskWipeReport RunParts::wipe_report() const {
  return DiskWipeReport::from_json(wipe.body).value();
}
void RunParts::set_wipe_report(const DiskWipeReport& report) { wipe.body = report.to_json(); }
DiagnosisReport RunParts::diagnosis_report() const {
  return DiagnosisReport::from_json(diagnosis.body).value();
}
void RunParts::set_diagnosis_report(const DiagnosisReport& report) {
  diagnosis.body = report.to_json();
}

Expectation RunParts::expectation(const ResultParts& part) const {
  Expectation out;
  out.kind = part.kind;
  out.context = part.head.context;
  out.command = part.head.command;
  out.nonce = part.head.nonce;
  out.manifest = evidence.manifest;
  out.wipe = evidence.policy.wipe;
  out.gpus = evidence.gpus;
  return out;
}

SignedEnvelope sign_part(const ResultParts& part) {
  auto envelope =
      sign_result(part.signer.key.private_key_pem, part.kind, part.subjects, part.head, part.body);
  return {envelope.value(), part.signer.chain_pem};
}

EvidenceResult listed(const ResultParts& part, const SignedEnvelope& envelope) {
  const ResultContext& context = part.head.context;
  return {context.place,   context.pass, context.attempt,           part.head.command,
          part.head.nonce, part.kind,    envelope.envelope.digest()};
}

SignedEnvelope sign_evidence(const RunParts& run) {
  auto envelope = sign_run_evidence(run.agent.key.private_key_pem, run.evidence);
  return {envelope.value(), run.agent.chain_pem};
}

Bundle sign_bundle(RunParts run, const std::function<void(RunEvidence&)>& edit) {
  std::vector<SignedEnvelope> results;
  run.evidence.results.clear();
  for (const ResultParts* part : {&run.inventory, &run.wipe, &run.diagnosis}) {
    results.push_back(sign_part(*part));
    run.evidence.results.push_back(listed(*part, results.back()));
  }
  if (edit) edit(run.evidence);
  return make_bundle(sign_evidence(run), results).value();
}

std::string good_bundle(const Pki& pki) { return sign_bundle(make_run(pki)).text().value(); }

Identity coordinator_identity() {
  Identity identity;
  identity.kind = IdentityKind::kCoordinator;
  identity.domain = "example.net";
  identity.name = "centre";
  return identity;
}

Receipt make_receipt(const Pki& pki, const Bundle& bundle) {
  Receipt receipt;
  receipt.site = bundle.site;
  receipt.run = bundle.run;
  receipt.seq = parse_run_evidence(bundle.evidence.envelope).value().seq;
  receipt.digest = bundle.evidence.envelope.digest();
  receipt.site_cas = {pki.site_ca_sha256};
  receipt.judged_at_ms = kNow;
  receipt.time_ms = kNow + kHour;
  return receipt;
}

Json signed_receipt(const Pki& pki, const Receipt& receipt, const Identity& identity) {
  Signer signer = pki.sign_in(identity);
  std::string chain;
  for (const std::string& pem : signer.chain_pem) chain += pem;
  return sign_receipt(signer.key.private_key_pem, chain, receipt).value();
}

}  // namespace leasehold::test
