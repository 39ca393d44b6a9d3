#include <catch2/catch.hpp>
#include <set>

#include "core/base/bytes.h"
#include "core/base/limits.h"
#include "core/tls/issued.h"
#include "tests/unit/core/tls/pki.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

X509Ptr leaf_of(const std::string& chain_pem) { return parse_certificate_pem(chain_pem).value(); }

Code refusal(const CaKey& issuer, const LeafRequest& request) {
  Result<std::string> leaf = issue_leaf(issuer, request);
  REQUIRE_FALSE(leaf.ok());
  return leaf.error().code;
}

}  // namespace

TEST_CASE("each kind comes from its own authority, and from no other") {
  Pki pki;
  for (IdentityKind kind : all_kinds()) {
    INFO(kind_name(kind));
    LeafRequest request = request_for(pki, identity_of(kind));
    bool by_site = kind == IdentityKind::kRamdisk || kind == IdentityKind::kNodeTenant;
    CHECK(issue_leaf(pki.s1, request).ok() == by_site);
    CHECK(issue_leaf(pki.issuing, request).ok() == !by_site);
    CHECK(refusal(by_site ? pki.issuing : pki.s1, request) == Code::kForbidden);
    CHECK(refusal(pki.root, request) == Code::kForbidden);
    if (by_site) CHECK(refusal(pki.s2, request) == Code::kForbidden);
  }
}

TEST_CASE("an authority is issued only by the one above it") {
  Pki pki;
  CHECK(issue_issuing_ca(pki.issuing, kDomain, days(1)).error().code == Code::kForbidden);
  CHECK(issue_issuing_ca(pki.s1, kDomain, days(1)).error().code == Code::kForbidden);
  CHECK(issue_site_ca(pki.root, "s3", kDomain, days(1)).error().code == Code::kForbidden);
  CHECK(issue_site_ca(pki.s1, "s3", kDomain, days(1)).error().code == Code::kForbidden);
  CHECK(issue_site_ca(pki.issuing, "S3", kDomain, days(1)).error().code == Code::kInvalidInput);
  CHECK(issue_root("Example.net", days(1)).error().code == Code::kInvalidInput);
  CHECK(issue_root("", days(1)).error().code == Code::kInvalidInput);
  CHECK(issue_root(kDomain, {kNowMs, kNowMs}).error().code == Code::kInvalidInput);
}

TEST_CASE("a site CA is issued for a key that stays at the site") {
  Pki pki;
  KeyPair key = generate_key();
  SiteCaRequest request{"s1", kDomain, make_csr(key.private_key_pem).value(), days(90)};
  std::string chain = issue_site_ca(pki.issuing, request).value();
  CHECK(chain.ends_with(pki.issuing.certificate_pem));
  CaForm form = ca_form(leaf_of(chain).get());
  CHECK(form.role == CaRole::kSite);
  CHECK(form.site_host == "s1.example.net");
  // It works as the one whose key was made here does.
  CaKey ca{chain.substr(0, chain.find(pki.issuing.certificate_pem)), key.private_key_pem,
           pki.issuing.certificate_pem};
  CertificateFacts facts = certificate_facts(chain).value();
  std::string leaf = issue_leaf(ca, request_for(pki, identity_of(IdentityKind::kRamdisk))).value();
  Anchors anchors = pki.anchors();
  anchors.site_cas = {{"s1", facts.sha256}};
  JudgeRequest judged{pem_to_der(leaf).value(), kNowMs, Verb::kAttest, "", false};
  CHECK(judge(judged, anchors).allowed);
  CHECK(facts.sha256 == certificate_sha256(ca.certificate_pem).value());
  CHECK(facts.serial == serial_hex(leaf_of(chain).get()));
  CHECK(facts.validity.not_after_ms == days(90).not_after_ms);
}

TEST_CASE("a site CA is refused to whoever shows no P-256 key of his own, and below a site") {
  Pki pki;
  std::string csr = make_csr(pki.key.private_key_pem).value();
  auto refused = [](const CaKey& issuer, const SiteCaRequest& request) {
    Result<std::string> chain = issue_site_ca(issuer, request);
    REQUIRE_FALSE(chain.ok());
    return chain.error().code;
  };
  CHECK(refused(pki.s1, {"s1", kDomain, csr, days(1)}) == Code::kForbidden);
  CHECK(refused(pki.root, {"s1", kDomain, csr, days(1)}) == Code::kForbidden);
  CHECK(refused(pki.issuing, {"S1", kDomain, csr, days(1)}) == Code::kInvalidInput);
  CHECK(refused(pki.issuing, {"s1", kDomain, "no csr", days(1)}) == Code::kMalformed);
  std::string der = csr_der(csr).value();
  der.back() = static_cast<char>(der.back() ^ 1);  // the signature, so that possession is not shown
  std::string forged = "-----BEGIN CERTIFICATE REQUEST-----\n" + base64_encode(der) +
                       "\n-----END CERTIFICATE REQUEST-----\n";
  CHECK(refused(pki.issuing, {"s1", kDomain, forged, days(1)}) == Code::kForbidden);
}

TEST_CASE("the authorities have the forms that the judge asks for") {
  Pki pki;
  CHECK(ca_form(leaf_of(pki.root.certificate_pem).get()).role == CaRole::kRoot);
  CHECK(ca_form(leaf_of(pki.issuing.certificate_pem).get()).role == CaRole::kIssuing);
  CaForm site = ca_form(leaf_of(pki.s1.certificate_pem).get());
  CHECK(site.role == CaRole::kSite);
  CHECK(site.site_host == "s1.example.net");
  std::string gateway =
      issue_leaf(pki.issuing, request_for(pki, identity_of(IdentityKind::kGateway))).value();
  CHECK(ca_form(leaf_of(gateway).get()).role == CaRole::kNone);
  CHECK(pki.root.chain_above_pem.empty());
  CHECK(pki.issuing.chain_above_pem.empty());
  CHECK(pki.s1.chain_above_pem == pki.issuing.certificate_pem);
}

TEST_CASE("a leaf is followed by its chain without the root") {
  Pki pki;
  std::string ramdisk =
      issue_leaf(pki.s1, request_for(pki, identity_of(IdentityKind::kRamdisk))).value();
  std::vector<std::string> chain = pem_to_der(ramdisk).value();
  REQUIRE(chain.size() == 3);
  CHECK(der_to_pem(chain[1]) == pki.s1.certificate_pem);
  CHECK(der_to_pem(chain[2]) == pki.issuing.certificate_pem);
}

TEST_CASE("serial numbers are random and long, and differ") {
  Pki pki;
  LeafRequest request = request_for(pki, identity_of(IdentityKind::kNode));
  std::set<std::string> serials;
  for (int i = 0; i < 50; ++i) {
    serials.insert(serial_hex(leaf_of(issue_leaf(pki.issuing, request).value()).get()));
  }
  CHECK(serials.size() == 50);
  size_t bytes = 0;
  for (const std::string& serial : serials) bytes += serial.size() / 2;
  CHECK(bytes >= 50 * 15);
}

TEST_CASE("a leaf's validity ends with its issuer's at the latest") {
  Pki pki;
  LeafRequest request = request_for(pki, identity_of(IdentityKind::kRamdisk));
  request.validity = {kNowMs - 400 * kDayMs, kNowMs + 400 * kDayMs};
  Validity got = validity_of(leaf_of(issue_leaf(pki.s1, request).value()).get());
  CHECK(got.not_before_ms == days(90).not_before_ms);
  CHECK(got.not_after_ms == days(90).not_after_ms);
  request.validity = {kNowMs, kNowMs + 3'600'000};
  got = validity_of(leaf_of(issue_leaf(pki.s1, request).value()).get());
  CHECK(got.not_before_ms == kNowMs);
  CHECK(got.not_after_ms == kNowMs + 3'600'000);
  request.validity = {kNowMs + 91 * kDayMs, kNowMs + 92 * kDayMs};
  CHECK(refusal(pki.s1, request) == Code::kInvalidInput);
  request.validity = {kNowMs + 10, kNowMs};
  CHECK(refusal(pki.s1, request) == Code::kInvalidInput);
}

TEST_CASE("DNS and IP names are for servers only, and are checked") {
  Pki pki;
  LeafRequest request = request_for(pki, identity_of(IdentityKind::kNode));
  request.dns_names = {"n1.example.net"};
  CHECK(refusal(pki.issuing, request) == Code::kInvalidInput);
  request.dns_names.clear();
  request.ip_addresses = {"10.0.0.1"};
  CHECK(refusal(pki.issuing, request) == Code::kInvalidInput);

  request = request_for(pki, identity_of(IdentityKind::kGateway));
  for (const char* bad : {"*.example.net", "a b", "", "example.net,DNS:evil.org", "Ex.net"}) {
    request.dns_names = {bad};
    CHECK(refusal(pki.issuing, request) == Code::kInvalidInput);
  }
  request.dns_names.clear();
  for (const char* bad : {"10.0.0", "10.0.0.1/8", "", "localhost", "::g"}) {
    request.ip_addresses = {bad};
    CHECK(refusal(pki.issuing, request) == Code::kInvalidInput);
  }
}

TEST_CASE("an identity whose parts have not the form of ids is not issued") {
  Pki pki;
  auto with = [&pki](auto change) {
    LeafRequest request = request_for(pki, identity_of(IdentityKind::kRamdisk));
    change(request.identity);
    return request;
  };
  CHECK(refusal(pki.s1, with([](Identity& id) { id.node = "n1/8"; })) == Code::kMalformed);
  CHECK(refusal(pki.s1, with([](Identity& id) { id.run = ""; })) == Code::kMalformed);
  CHECK(refusal(pki.s1, with([](Identity& id) { id.generation = -1; })) == Code::kMalformed);
  CHECK(refusal(pki.s1, with([](Identity& id) { id.site = "s1.x"; })) == Code::kMalformed);
  CHECK(refusal(pki.s1, with([](Identity& id) { id.name = "ann"; })) == Code::kInvalidInput);
}

TEST_CASE("a CSR shows that its sender holds the key, and holds P-256") {
  Pki pki;
  LeafRequest request = request_for(pki, identity_of(IdentityKind::kNode));
  std::string der = csr_der(request.csr_pem).value();

  // The last byte belongs to the signature.
  std::string changed = der;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  BioPtr bio = bio_in_memory();
  PEM_write_bio(bio.get(), PEM_STRING_X509_REQ, "",
                reinterpret_cast<const unsigned char*>(changed.data()),
                static_cast<long>(changed.size()));
  request.csr_pem = bio_text(bio.get());
  CHECK(refusal(pki.issuing, request) == Code::kForbidden);

  PkeyPtr p384(EVP_EC_gen("P-384"));
  CsrPtr csr(X509_REQ_new());
  X509_REQ_set_pubkey(csr.get(), p384.get());
  X509_REQ_sign(csr.get(), p384.get(), EVP_sha256());
  bio = bio_in_memory();
  PEM_write_bio_X509_REQ(bio.get(), csr.get());
  request.csr_pem = bio_text(bio.get());
  CHECK(refusal(pki.issuing, request) == Code::kInvalidInput);

  // A point that is not on the curve, and a digest that is not ours.
  std::string off_curve = der;
  size_t point = off_curve.find(std::string("\x03\x42\x00\x04", 4));
  REQUIRE(point != std::string::npos);
  off_curve[point + 10] = static_cast<char>(off_curve[point + 10] ^ 1);
  bio = bio_in_memory();
  PEM_write_bio(bio.get(), PEM_STRING_X509_REQ, "",
                reinterpret_cast<const unsigned char*>(off_curve.data()),
                static_cast<long>(off_curve.size()));
  request.csr_pem = bio_text(bio.get());
  CHECK(refusal(pki.issuing, request) == Code::kInvalidInput);
  PkeyPtr p256(EVP_EC_gen("P-256"));
  csr.reset(X509_REQ_new());
  X509_REQ_set_pubkey(csr.get(), p256.get());
  X509_REQ_sign(csr.get(), p256.get(), EVP_sha384());
  bio = bio_in_memory();
  PEM_write_bio_X509_REQ(bio.get(), csr.get());
  request.csr_pem = bio_text(bio.get());
  CHECK(refusal(pki.issuing, request) == Code::kInvalidInput);

  request.csr_pem = "nonsense";
  CHECK(refusal(pki.issuing, request) == Code::kMalformed);
  request.csr_pem = pki.root.certificate_pem;
  CHECK(refusal(pki.issuing, request) == Code::kMalformed);
  std::string one = make_csr(pki.key.private_key_pem).value();
  request.csr_pem = one + one;
  CHECK(refusal(pki.issuing, request) == Code::kMalformed);
  request.csr_pem = one + std::string(limits::kCsrBytes, '\n');
  CHECK(refusal(pki.issuing, request) == Code::kTooLarge);
}

TEST_CASE("an issuer's key must belong to its certificate") {
  Pki pki;
  LeafRequest request = request_for(pki, identity_of(IdentityKind::kNode));
  CaKey mixed = pki.issuing;
  mixed.private_key_pem = pki.s1.private_key_pem;
  CHECK(refusal(mixed, request) == Code::kMalformed);
}

TEST_CASE("a chain text holds certificates only, and not too many") {
  Pki pki;
  const std::string& one = pki.root.certificate_pem;
  CHECK(pem_to_der(one + "\n" + one).value().size() == 2);
  CHECK(pem_to_der("").error().code == Code::kMalformed);
  CHECK(pem_to_der(one + "junk").error().code == Code::kMalformed);
  CHECK(pem_to_der(one + pki.root.private_key_pem).error().code == Code::kMalformed);
  CHECK(pem_to_der(one + one + one + one + one).error().code == Code::kTooLarge);
  CHECK(certificate_sha256(one).value() == sha256_hex(pem_to_der(one).value()[0]));
}

TEST_CASE("what is kept of a certificate is what it says, and its key is the CSR's") {
  Pki pki;
  LeafRequest request = request_for(pki, identity_of(IdentityKind::kSiteAgent));
  IssuedChain leaf = issue_leaf_chain(pki.issuing, request).value();
  CertificateFacts read = certificate_facts(leaf.pem).value();
  CHECK(leaf.facts.serial == read.serial);
  CHECK(leaf.facts.sha256 == read.sha256);
  CHECK(leaf.facts.validity.not_before_ms == read.validity.not_before_ms);
  CHECK(leaf.facts.validity.not_after_ms == read.validity.not_after_ms);
  CHECK(public_key_pem(leaf_of(leaf.pem).get()) == pki.key.public_key_pem);
  SiteCaRequest wish{"s1", kDomain, request.csr_pem, days(90)};
  IssuedChain ca = issue_site_ca_chain(pki.issuing, wish).value();
  CHECK(ca.facts.sha256 == certificate_facts(ca.pem).value().sha256);
  CHECK(public_key_pem(leaf_of(ca.pem).get()) == pki.key.public_key_pem);
}
