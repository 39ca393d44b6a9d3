#include "core/evidence/receipt.h"

#include <catch2/catch.hpp>
#include <functional>
#include <random>

#include "core/base/bytes.h"
#include "tests/support/evidence_fixture.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

// What whoever has the root and the file alone finds: the name of a reason, or "verified".
std::string verdict(const Pki& pki, const std::string& text) {
  Anchors root_only{pki.root.certificate_pem, "example.net", {}};
  auto verified = verify_bundle(text, root_only, 0, ReceiptRule::kRequired);
  return verified.ok() ? "verified" : std::string(evidence_reason_name(verified.error().reason));
}

std::string receipted(const Pki& pki, Bundle bundle,
                      const std::function<void(Receipt&)>& edit = {}) {
  Receipt receipt = make_receipt(pki, bundle);
  if (edit) edit(receipt);
  bundle.receipt = signed_receipt(pki, receipt);
  return bundle.text().value();
}

}  // namespace

TEST_CASE("a receipted file is verified with the root alone") {
  Pki pki = make_pki();
  Bundle bundle = sign_bundle(make_run(pki));
  std::string text = receipted(pki, bundle);
  CHECK(verdict(pki, text) == "verified");
  Anchors root_only{pki.root.certificate_pem, "example.net", {}};
  auto verified = verify_bundle(text, root_only, 0, ReceiptRule::kRequired).value();
  REQUIRE(verified.receipt.has_value());
  CHECK(*verified.receipt == make_receipt(pki, bundle));
  CHECK(verified.site_cas() == std::vector<std::string>{pki.site_ca_sha256});
}

TEST_CASE("the receipt and not the caller says by which site CA and instant a file is judged") {
  Pki pki = make_pki();
  Bundle bundle = sign_bundle(make_run(pki));
  auto with = [&](const std::function<void(Receipt&)>& edit) {
    return receipted(pki, bundle, edit);
  };
  std::string other_ca = with([](Receipt& r) { r.site_cas = {std::string(64, '0')}; });
  CHECK(verify_bundle(other_ca, pki.anchors(), kNow).error().reason ==
        EvidenceReason::kUnrecordedSiteCa);
  std::string later = with([](Receipt& r) {
    r.judged_at_ms = kNow + 5 * kHour;
    r.time_ms = r.judged_at_ms;
  });
  CHECK(verdict(pki, later) == "verified");
  std::string too_late = with([](Receipt& r) { r.judged_at_ms = r.time_ms = kNow + 100 * kHour; });
  CHECK(verdict(pki, too_late) == "receipt-untrusted");  // the coordinator's own had ended
}

TEST_CASE("a receipt about other evidence is refused") {
  Pki pki = make_pki();
  Bundle bundle = sign_bundle(make_run(pki));
  const std::function<void(Receipt&)> edits[] = {
      [](Receipt& r) { r.site = "s2"; },
      [](Receipt& r) { r.run = "r-2"; },
      [](Receipt& r) { r.seq += 1; },
      [](Receipt& r) { r.digest = std::string(64, 'a'); },
  };
  for (const auto& edit : edits) {
    CHECK(verdict(pki, receipted(pki, bundle, edit)) == "receipt-mismatch");
  }
}

TEST_CASE("only a coordinator under this root signs a receipt") {
  Pki pki = make_pki();
  Bundle bundle = sign_bundle(make_run(pki));
  const Receipt receipt = make_receipt(pki, bundle);
  auto signed_by = [&](const Pki& by, const Identity& identity) {
    bundle.receipt = signed_receipt(by, receipt, identity);
    return verdict(pki, bundle.text().value());
  };
  CHECK(signed_by(pki, coordinator_identity()) == "verified");
  CHECK(signed_by(pki, site_agent_identity()) == "receipt-untrusted");
  CHECK(signed_by(pki, ramdisk_identity()) == "receipt-untrusted");
  CHECK(signed_by(make_pki(), coordinator_identity()) == "receipt-untrusted");
  Json other_signature = signed_receipt(pki, receipt);
  other_signature["envelope"]["signatures"] =
      signed_receipt(pki, receipt)["envelope"]["signatures"];
  bundle.receipt = other_signature;
  CHECK(verdict(pki, bundle.text().value()) == "receipt-untrusted");
}

TEST_CASE("a receipt of another form is unreadable") {
  Pki pki = make_pki();
  Bundle bundle = sign_bundle(make_run(pki));
  const Json good = signed_receipt(pki, make_receipt(pki, bundle));
  auto read = [&](Json receipt) {
    bundle.receipt = std::move(receipt);
    return verdict(pki, bundle.text().value());
  };
  CHECK(read(good) == "verified");
  CHECK(read("yes") == "receipt-unreadable");
  CHECK(read(Json::object()) == "receipt-unreadable");
  Json more = good;
  more["note"] = "";
  CHECK(read(more) == "receipt-unreadable");
  Json spaced = good;
  std::string payload = base64_decode(good["envelope"]["payload"].get<std::string>()).value() + " ";
  spaced["envelope"]["payload"] = base64_encode(payload);
  CHECK(read(spaced) == "receipt-unreadable");
  Json typed = good;
  typed["envelope"]["payloadType"] = "application/vnd.in-toto+json";
  CHECK(read(typed) == "receipt-unreadable");
  Receipt turned = make_receipt(pki, bundle);
  turned.judged_at_ms = turned.time_ms + 1;
  CHECK(read(signed_receipt(pki, turned)) == "receipt-unreadable");
}

TEST_CASE("a thousand single-byte changes of a receipted bundle are all refused with a reason") {
  Pki pki = make_pki();
  const std::string good = receipted(pki, sign_bundle(make_run(pki)));
  REQUIRE(verdict(pki, good) == "verified");
  const size_t receipt_at = good.find("\"receipt\"");
  REQUIRE(receipt_at != std::string::npos);
  std::mt19937 random(20261130);
  for (int i = 0; i < 1000; ++i) {
    std::string bad = good;
    // Half of them in the receipt itself.
    size_t from = i % 2 == 0 ? 0 : receipt_at;
    size_t at = from + random() % (i % 2 == 0 ? bad.size() : size_t{4000});
    bad[at] = static_cast<char>(bad[at] ^ static_cast<char>(1 + random() % 255));
    INFO("byte " << at);
    REQUIRE(verdict(pki, bad) != "verified");
  }
}
