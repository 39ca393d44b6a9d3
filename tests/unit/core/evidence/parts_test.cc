// The parts by themselves: DSSE, statements, manifests, baseline, diagnosis, read-back.
#include <catch2/catch.hpp>
#include <set>

#include "core/base/bytes.h"
#include "core/evidence/signer.h"
#include "tests/support/evidence_fixture.h"

namespace leasehold::test {

TEST_CASE("the PAE is that of the DSSE specification") {
  CHECK(dsse_pae("http://example.com/HelloWorld", "hello world") ==
        "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
}

TEST_CASE("an envelope has one form") {
  KeyPair key = generate_key();
  DsseEnvelope envelope = dsse_sign(key.private_key_pem, kInTotoPayloadType, "{}").value();
  CHECK(dsse_verify(envelope, key.public_key_pem).ok());
  CHECK(DsseEnvelope::from_json(envelope.to_json()).value() == envelope);
  CHECK(envelope.digest() == sha256_hex(canonical_json(envelope.to_json()).value()));

  DsseEnvelope other = envelope;
  other.payload_type = kHelloPayloadType;
  CHECK(dsse_verify(other, key.public_key_pem).error().code == Code::kEvidenceRefused);

  auto refused = [&](std::function<void(Json&)> change) {
    Json json = envelope.to_json();
    change(json);
    auto parsed = DsseEnvelope::from_json(json);
    return !parsed.ok() && parsed.error().code == Code::kMalformed;
  };
  CHECK_FALSE(refused([](Json&) {}));
  CHECK(refused([](Json& j) { j["extra"] = 1; }));
  CHECK(refused([](Json& j) { j.erase("payload"); }));
  CHECK(refused([](Json& j) { j["payload"] = "e31="; }));  // slack bits
  CHECK(refused([](Json& j) { j["payload"] = "e30"; }));   // no padding
  CHECK(refused([](Json& j) { j["payload"] = 1; }));
  CHECK(refused([](Json& j) { j["signatures"].push_back(j["signatures"][0]); }));
  CHECK(refused([](Json& j) { j["signatures"] = Json::array(); }));
  CHECK(refused([](Json& j) { j["signatures"][0]["keyid"] = "k"; }));
  CHECK(refused([](Json& j) { j["signatures"][0]["cert"] = ""; }));
  CHECK(refused([](Json& j) { j = Json::array(); }));
}

TEST_CASE("a statement's text is read only in its canonical form") {
  Statement statement{{{"node:n1", std::string(64, 'a')}},
                      predicate_type(ResultKind::kDiagnosis),
                      {{"b", 1}, {"a", "x"}}};
  std::string text = statement.text().value();
  CHECK(text.starts_with("{\"_type\":\"https://in-toto.io/Statement/v1\",\"predicate\":{\"a\""));
  CHECK(parse_statement(text).value().subjects == statement.subjects);
  auto reason = [](const std::string& each) { return parse_statement(each).error().reason; };
  CHECK(reason(text + " ") == EvidenceReason::kNotCanonical);
  CHECK(reason("{\"a\":1}") == EvidenceReason::kMalformed);
  CHECK(reason(text.substr(1)) == EvidenceReason::kMalformed);
  std::string with_float = text;
  with_float.replace(with_float.find("\"b\":1"), 5, "\"b\":1.0");
  CHECK(reason(with_float) == EvidenceReason::kNotCanonical);
  statement.predicate = {{"a", 0.5}};
  CHECK(statement.text().error().code == Code::kMalformed);
}

TEST_CASE("a manifest names each disk once") {
  DiskManifest manifest = make_manifest();
  CHECK(DiskManifest::from_json(manifest.to_json()).value() == manifest);
  CHECK(manifest.subjects()[0].name == "disk:eui.0001");
  CHECK(manifest.subjects()[1].name == "disk:S2");
  CHECK(manifest.subjects()[0].sha256 ==
        sha256_hex(canonical_json(manifest.disks[0].to_json()).value()));

  auto refused = [&](std::function<void(DiskManifest&)> change) {
    DiskManifest changed = manifest;
    change(changed);
    return !DiskManifest::from_json(changed.to_json()).ok();
  };
  CHECK(refused([](auto& m) { m.disks[1].serial = "S1"; }));
  CHECK(refused([](auto& m) { m.disks[1].wwn = "eui.0001"; }));
  CHECK(refused([](auto& m) { m.disks[1].serial = ""; }));
  CHECK(refused([](auto& m) { m.disks[1].capacity_bytes = 0; }));
  CHECK(refused([](auto& m) { m.disks[1].transport = "floppy"; }));
}

TEST_CASE("a disk's name that is not UTF-8 has a digest and does not abort") {
  ManifestEntry entry = make_manifest().disks[0];
  entry.model = "caf\xe9";
  CHECK(entry.subject().sha256.size() == 64);
  RunParts run = make_run(make_pki());
  run.evidence.manifest.disks[0].model = "caf\xe9";
  auto envelope = sign_run_evidence(run.agent.key.private_key_pem, run.evidence);
  REQUIRE_FALSE(envelope.ok());
  CHECK(envelope.error().code == Code::kMalformed);
}

TEST_CASE("firmware is compared exactly, and unknown is not equal") {
  Versions baseline = {{"bios", "2.4.1"}, {"bmc", "1.12.0"}, {"nic", "26.1"}};
  Versions found = {{"bios", "2.4.1"}, {"bmc", "01.12.00"}, {"nic", ""}, {"cpld", "7"}};
  BaselineComparison comparison = compare_baseline(baseline, found);
  REQUIRE(comparison.components.size() == 3);
  CHECK(comparison.components[0].state == FirmwareState::kOk);
  CHECK(comparison.components[1].state == FirmwareState::kDrifted);
  CHECK(comparison.components[2].state == FirmwareState::kUnknown);
  CHECK(comparison.listed == Versions{{"cpld", "7"}});
  CHECK_FALSE(comparison.all(FirmwareState::kOk));
  CHECK(comparison.any(FirmwareState::kUnknown));
  // A baseline that asks for nothing is met by nothing.
  CHECK(compare_baseline({{"bios", ""}}, {{"bios", ""}}).components[0].state ==
        FirmwareState::kUnknown);
  CHECK(check_baseline(baseline, baseline).ok());
  CHECK(check_baseline({}, found).error().reason == EvidenceReason::kNoBaseline);
}

TEST_CASE("with no expected GPU, none observed and no test is a pass") {
  DiagnosisReport report;
  report.level = 1;
  report.exit = 0;
  report.verdict = Verdict::kPass;
  CHECK(check_diagnosis(report, {}, 1).ok());
  CHECK(check_diagnosis(report, {"1000"}, 1).error().reason == EvidenceReason::kWrongGpus);
  report.expected_gpus = {"1000"};
  CHECK(check_diagnosis(report, {"1000"}, 1).error().reason == EvidenceReason::kMissingGpu);
}

TEST_CASE("words of passing are dcgmi's own") {
  DiagnosisReport report = make_run(make_pki()).diagnosis_report();
  for (const char* word : {"Pass", "PASS"}) {
    for (DiagnosisTest& test : report.tests) test.status = word;
    CHECK(check_diagnosis(report, report.expected_gpus, 1).ok());
  }
  for (const char* word : {"", "Passed", "NOT RUN", "SKIPPED", "WARN", "Fail"}) {
    report.tests[0].status = word;
    CHECK(check_diagnosis(report, report.expected_gpus, 1).error().reason ==
          EvidenceReason::kGpuTestNotPass);
  }
}

TEST_CASE("a sample needs both ends and something between, a full read-back needs all") {
  constexpr int64_t kMiB = 1 << 20;
  CHECK(sample_bytes_needed(kMiB) == kMiB);
  CHECK(sample_bytes_needed(16 * kMiB) == 3 * kMiB);
  DiskWipe wipe = make_run(make_pki()).wipe_report().disks[0];
  wipe.readback.bytes = wipe.disk.capacity_bytes;
  wipe.readback.coverage_ppm = 1'000'000;
  wipe.readback.found = ReadbackClass::kOnes;
  CHECK(check_disk_wipe(wipe, {WipeMethod::kPurge, ReadbackExtent::kFull}).ok());
  wipe.method = WipeMethod::kClear;
  CHECK(check_disk_wipe(wipe, {WipeMethod::kClear, ReadbackExtent::kFull}).ok());
}

TEST_CASE("nvme format counts with SES 1 or 2 in any spelling") {
  DiskWipe wipe = make_run(make_pki()).wipe_report().disks[0];
  auto ok = [&](std::vector<std::string> argv) {
    wipe.commands[0].argv = std::move(argv);
    return check_disk_wipe(wipe, {WipeMethod::kPurge, ReadbackExtent::kSample}).ok();
  };
  CHECK(ok({"nvme", "format", "/dev/nvme0", "--ses=1"}));
  CHECK(ok({"nvme", "format", "/dev/nvme0", "--ses", "2"}));
  CHECK(ok({"/usr/sbin/nvme", "format", "-s1", "/dev/nvme0"}));
  CHECK(ok({"nvme", "format", "-s", "2", "/dev/nvme0"}));
  CHECK(ok({"nvme", "sanitize", "/dev/nvme0", "--sanact=4"}));
  CHECK_FALSE(ok({"nvme", "format", "/dev/nvme0", "-s"}));
}

TEST_CASE("only a command that is known to erase disks of that transport counts") {
  DiskWipe wipe = make_run(make_pki()).wipe_report().disks[0];
  const WipeRules rules = {WipeMethod::kPurge, ReadbackExtent::kSample};
  auto reason = [&](std::vector<std::string> argv) -> std::string {
    wipe.commands[0].argv = std::move(argv);
    Checked<void> checked = check_disk_wipe(wipe, rules);
    return checked.ok() ? "" : std::string(evidence_reason_name(checked.error().reason));
  };
  for (const char* action : {"2", "3", "4", "0x04", "start-crypto-erase"}) {
    CHECK(reason({"nvme", "sanitize", "/dev/nvme0", "-a", action}).empty());
  }
  CHECK(reason({"nvme", "sanitize", "/dev/nvme0", "--sanact=1"}) == "not-erased");
  CHECK(reason({"nvme", "sanitize", "/dev/nvme0"}) == "not-erased");
  CHECK(reason({"nvme", "id-ctrl", "/dev/nvme0"}) == "not-erased");
  CHECK(reason({"true"}) == "unknown-erase");
  CHECK(reason({"blkdiscard", "/dev/nvme0n1"}) == "unknown-erase");
  CHECK(reason({"nvme", "reset", "/dev/nvme0"}) == "unknown-erase");
  wipe.disk.transport = "sata";
  CHECK(reason({"nvme", "format", "/dev/sda", "--ses=1"}) == "unknown-erase");
  wipe.disk.transport = "nvme";
  // One that is unknown beside one that erases: what it did afterwards nobody knows.
  CHECK(reason({"nvme", "format", "/dev/nvme0", "--ses=1"}).empty());
  wipe.commands.push_back({{"dd", "of=/dev/nvme0n1"}, 0, ""});
  CHECK(reason({"nvme", "format", "/dev/nvme0", "--ses=1"}) == "unknown-erase");
}

TEST_CASE("what a refusal quotes is short and harmless") {
  EvidenceRefusal refusal{EvidenceReason::kWrongCommand, "\x1b[2J" + std::string(5000, 'x')};
  CHECK(refusal.detail.size() == limits::kEvidenceDetailBytes);
  CHECK(refusal.detail.rfind("?[2Jxx", 0) == 0);
  RunParts run = make_run(make_pki());
  Expectation expected = run.expectation(run.wipe);
  run.wipe.head.command = std::string(3000, 'c');
  auto refused = verify_result(sign_part(run.wipe), expected, run.pki.anchors(), kNow);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().text().size() < 300);
}

TEST_CASE("a single result is judged against what was commanded") {
  RunParts run = make_run(make_pki());
  SignedEnvelope wipe = sign_part(run.wipe);
  Expectation expected = run.expectation(run.wipe);
  Anchors anchors = run.pki.anchors();
  auto verified = verify_result(wipe, expected, anchors, kNow);
  REQUIRE(verified.ok());
  CHECK(verified.value().digest == wipe.envelope.digest());
  CHECK(verified.value().head == run.wipe.head);
  CHECK(verified.value().leaf_serial.size() > 0);
  CHECK(SignedEnvelope::from_json(wipe.to_json()).value() == wipe);

  SECTION("signed as another payload type") {
    wipe.envelope =
        dsse_sign(run.wipe.signer.key.private_key_pem, kHelloPayloadType, wipe.envelope.payload)
            .value();
    CHECK(verify_result(wipe, expected, anchors, kNow).error().reason ==
          EvidenceReason::kWrongPayloadType);
  }
  SECTION("a wipe expected of no manifest is none") {
    expected.manifest.reset();
    CHECK_FALSE(verify_result(wipe, expected, anchors, kNow).ok());
  }
  SECTION("a diagnosis expected of unknown GPUs is none") {
    expected = run.expectation(run.diagnosis);
    CHECK(verify_result(sign_part(run.diagnosis), expected, anchors, kNow).ok());
    expected.gpus.reset();
    CHECK(verify_result(sign_part(run.diagnosis), expected, anchors, kNow).error().reason ==
          EvidenceReason::kWrongGpus);
  }
  SECTION("the first inventory is expected of nothing") {
    expected = run.expectation(run.inventory);
    expected.manifest.reset();
    expected.gpus.reset();
    auto inventory = verify_result(sign_part(run.inventory), expected, anchors, kNow);
    REQUIRE(inventory.ok());
    CHECK(std::get<InventoryReport>(inventory.value().body).disks == make_manifest().disks);
  }
}

TEST_CASE("run evidence is read as it was written, and only in its words") {
  RunParts run = make_run(make_pki());
  Bundle bundle = sign_bundle(run);
  RunEvidence read = parse_run_evidence(bundle.evidence.envelope).value();
  CHECK(read.results.size() == 3);
  CHECK(RunEvidence::from_json(read.to_json()).value() == read);
  auto refused = [&](std::function<void(Json&)> change) {
    Json json = read.to_json();
    change(json);
    return !RunEvidence::from_json(json).ok();
  };
  CHECK_FALSE(refused([](Json&) {}));
  CHECK(refused([](Json& j) { j.erase("observers"); }));
  CHECK(refused([](Json& j) { j["more"] = 1; }));
  CHECK(refused([](Json& j) { j["policy"]["wipe_minimum"] = "none"; }));
  CHECK(refused([](Json& j) { j["policy"]["minimum_binding"] = ""; }));
  CHECK(refused([](Json& j) { j["firmware"]["at_wipe"] = "fine"; }));
  CHECK(refused([](Json& j) { j["boot_nonces"].push_back(j["boot_nonces"][0]); }));
  CHECK(refused([](Json& j) { j["prev"] = "abc"; }));
  CHECK(refused([](Json& j) { j["results"][0]["kind"] = "run"; }));
  CHECK(refused([](Json& j) { j["generation"] = "4"; }));
  CHECK(refused([](Json& j) { j["at"] = "2026-11-29"; }));
}

TEST_CASE("reasons have names and meanings, and each name is unique") {
  std::set<std::string_view> names;
  for (EvidenceReason reason : all_evidence_reasons()) {
    CHECK(names.insert(evidence_reason_name(reason)).second);
    CHECK(evidence_reason_meaning(reason).size() >= 20);
  }
  Error error = EvidenceRefusal{EvidenceReason::kMissingDisk, "serial S1"}.to_error();
  CHECK(error.code == Code::kEvidenceRefused);
  CHECK(error.field == "missing-disk");
  CHECK(error.message == "missing-disk: serial S1");
}

}  // namespace leasehold::test
