// A good bundle passes; each vector, which differs in one thing, is refused for its own reason; no
// byte of a file can be changed unseen.
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "tests/unit/core/evidence/vectors.h"

namespace leasehold::test {

std::string Case::text() const {
  Bundle bundle = sign_bundle(run, edit);
  if (after) after(bundle);
  std::string text = bundle.text().value();
  if (on_text) on_text(text);
  return text;
}

Case good_case(const Pki& pki) {
  Case out;
  out.run = make_run(pki);
  out.anchors = pki.anchors();
  return out;
}

namespace {

std::vector<Vector> all_vectors() {
  std::vector<Vector> out;
  for (auto* list :
       {form_vectors, signer_vectors, context_vectors, disk_vectors, gpu_vectors, run_vectors}) {
    for (Vector& vector : list()) out.push_back(std::move(vector));
  }
  return out;
}

std::string verdict_of(const Case& each) {
  auto verified = verify_bundle(each.text(), each.anchors, each.instant_ms, each.rule);
  return verified.ok() ? "verified" : std::string(evidence_reason_name(verified.error().reason));
}

}  // namespace

TEST_CASE("a good bundle is verified and says what it shows") {
  Pki pki = make_pki();
  Case good = good_case(pki);
  std::string text = good.text();
  auto verified = verify_bundle(text, good.anchors, kNow);
  REQUIRE(verified.ok());
  const VerifiedBundle& bundle = verified.value();
  CHECK(bundle.evidence.run == "r-1");
  CHECK(bundle.signer == site_agent_identity());
  CHECK(bundle.wipe().disks.size() == 2);
  CHECK(bundle.diagnosis().observed_gpus.size() == 2);
  CHECK(bundle.results.size() == 3);
  CHECK(bundle.results[0].signer == ramdisk_identity());
  CHECK(bundle.digest == parse_bundle(text).value().evidence.envelope.digest());
  CHECK_FALSE(bundle.receipt.has_value());
  CHECK(text.back() == '\n');
}

TEST_CASE("each vector is refused for its own reason while the good bundle passes") {
  Pki pki = make_pki();
  const Case good = good_case(pki);
  REQUIRE(verdict_of(good) == "verified");
  std::set<EvidenceReason> reached;
  for (const Vector& vector : all_vectors()) {
    INFO(vector.what);
    Case each = good;
    vector.change(each);
    CHECK(verdict_of(each) == std::string(evidence_reason_name(vector.reason)));
    reached.insert(vector.reason);
  }
  CHECK(verdict_of(good) == "verified");
  for (EvidenceReason reason : all_evidence_reasons()) {
    INFO(evidence_reason_name(reason));
    CHECK(reached.count(reason) == 1);
  }
}

TEST_CASE("a thousand single-byte changes of a bundle are all refused") {
  Pki pki = make_pki();
  std::string good = good_bundle(pki);
  Anchors anchors = pki.anchors();
  REQUIRE(verify_bundle(good, anchors, kNow).ok());
  std::mt19937 random(20261129);
  for (int i = 0; i < 1000; ++i) {
    std::string bad = good;
    size_t at = random() % bad.size();
    bad[at] = static_cast<char>(bad[at] ^ static_cast<char>(1 + random() % 255));
    INFO("byte " << at);
    REQUIRE_FALSE(verify_bundle(bad, anchors, kNow).ok());
  }
}

TEST_CASE("no cut of a bundle is verified") {
  Pki pki = make_pki();
  std::string good = good_bundle(pki);
  for (size_t length = 0; length < good.size(); length += 97) {
    REQUIRE_FALSE(verify_bundle(good.substr(0, length), pki.anchors(), kNow).ok());
  }
}

TEST_CASE("a second pass counts with its own boot nonce") {
  Pki pki = make_pki();
  Case each = good_case(pki);
  each.run.evidence.boot_nonces.push_back("c2Vjb25kIGJvb3Q=");
  for (ResultParts* part : {&each.run.inventory, &each.run.wipe, &each.run.diagnosis}) {
    part->head.context.pass = 2;
    part->head.context.boot_nonce = "c2Vjb25kIGJvb3Q=";
    if (part->kind != ResultKind::kDiskWipe) {
      part->subjects = {part->head.context.node_subject()};
    }
  }
  for (const char* place : {"metal.ensureRamdisk", "disk.wipe", "diag.dcgm"}) {
    each.run.evidence.steps.push_back({place, 2, 1, kNow - kHour});
  }
  CHECK(verdict_of(each) == "verified");

  // The same results with the boot nonce of the first pass are another boot's.
  each.run.wipe.head.context.boot_nonce = each.run.evidence.boot_nonces[0];
  CHECK(verdict_of(each) == "wrong-boot-nonce");
}

TEST_CASE("a run without a lease is verified if it is an enrolment, which never has one") {
  Pki pki = make_pki();
  Case each = good_case(pki);
  each.run.evidence.workflow = "metal-enrol@1";
  CHECK(verdict_of(each) == "wrong-lease");
  each.run.evidence.lease = "";
  for (ResultParts* part : {&each.run.inventory, &each.run.wipe, &each.run.diagnosis}) {
    part->head.context.lease = "";
    if (part->kind != ResultKind::kDiskWipe) {
      part->subjects = {part->head.context.node_subject()};
    }
  }
  CHECK(verdict_of(each) == "verified");
  each.run.evidence.workflow = "metal-tenant-root-release@1";
  CHECK(verdict_of(each) == "wrong-lease");
  each.run.evidence.workflow = "metal-inspect@1";
  CHECK(verdict_of(each) == "wrong-workflow");
}

}  // namespace leasehold::test
