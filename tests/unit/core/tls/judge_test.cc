#include <catch2/catch.hpp>

#include "core/base/limits.h"
#include "tests/unit/core/tls/pki.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

constexpr Verb kAllVerbs[] = {Verb::kAttest,         Verb::kSignRun, Verb::kServeGateway,
                              Verb::kRamdiskCommand, Verb::kSession, Verb::kReadSecret,
                              Verb::kSyncRows,       Verb::kCallApi, Verb::kSignReceipt};

JudgeRequest asking(std::vector<std::string> chain, Verb verb, std::string host = {}) {
  return {std::move(chain), kNowMs, verb, std::move(host), false};
}

// The name of the refusal, or "allowed".
std::string verdict(const JudgeRequest& request, const Anchors& anchors) {
  Judgement judgement = judge(request, anchors);
  INFO(judgement.detail);
  CHECK(judgement.allowed == judgement.detail.empty());
  return judgement.allowed ? "allowed" : std::string(chain_refusal_name(judgement.refusal));
}

Verb first_verb(IdentityKind kind) {
  for (Verb verb : kAllVerbs) {
    if (kind_may(kind, verb)) return verb;
  }
  return Verb::kAttest;
}

std::string host_of(IdentityKind kind) {
  return kind == IdentityKind::kGateway ? "gateway.s1.example.net" : "";
}

// What a leaf that carries exactly `names` under `issuer` is refused for, asked for `verb`.
std::string forged(const Pki& pki, const CaKey& issuer, const Forgery& wish, Verb verb,
                   const std::string& host = {}) {
  return verdict(asking(forged_chain(issuer, pki.key, wish), verb, host), pki.anchors());
}

Forgery uri_only(std::string uri) {
  Forgery wish;
  wish.names = {{GEN_URI, std::move(uri)}};
  return wish;
}

const std::string kRamdiskUri = "spiffe://s1.example.net/node/n1/7/ramdisk/r-1";
const std::string kNodeUri = "spiffe://s1.example.net/node/n1/7/node";

}  // namespace

TEST_CASE("kind against verb, for every kind and every verb") {
  Pki pki;
  auto expected = [](IdentityKind kind, Verb verb) {
    using K = IdentityKind;
    switch (verb) {
      case Verb::kAttest:
        return kind == K::kRamdisk || kind == K::kNode;
      case Verb::kSignRun:
        return kind == K::kSiteAgent;
      case Verb::kServeGateway:
        return kind == K::kGateway;
      case Verb::kRamdiskCommand:
        return kind == K::kRamdisk;
      case Verb::kSession:
        return kind == K::kNodeTenant || kind == K::kNode || kind == K::kRamdisk;
      case Verb::kReadSecret:
        return kind == K::kNode;
      case Verb::kSyncRows:
        return kind == K::kSiteAgent || kind == K::kCoordinator;
      case Verb::kCallApi:
        return kind == K::kOperator || kind == K::kTenant || kind == K::kSiteAgent;
      case Verb::kSignReceipt:
        return kind == K::kCoordinator;
    }
    return false;
  };
  for (IdentityKind kind : all_kinds()) {
    for (Verb verb : kAllVerbs) {
      INFO(kind_name(kind) << " " << static_cast<int>(verb));
      std::string want = expected(kind, verb) ? "allowed" : "kind-may-not";
      CHECK(verdict(asking(chain_for(pki, kind), verb, host_of(kind)), pki.anchors()) == want);
    }
  }
}

TEST_CASE("law 4, tenant-never-attests: a node-tenant certificate attests under no authority") {
  Pki pki;
  auto chain = chain_for(pki, IdentityKind::kNodeTenant);
  CHECK(verdict(asking(chain, Verb::kAttest), pki.anchors()) == "kind-may-not");
  Forgery wish = uri_only("spiffe://s1.example.net/node/n1/7/node-tenant");
  CHECK(forged(pki, pki.issuing, wish, Verb::kAttest) == "wrong-issuer");
}

TEST_CASE("what is allowed is described") {
  Pki pki;
  auto chain = chain_for(pki, IdentityKind::kRamdisk);
  Judgement judgement = judge(asking(chain, Verb::kAttest), pki.anchors());
  REQUIRE(judgement.allowed);
  CHECK(judgement.identity == identity_of(IdentityKind::kRamdisk));
  CHECK(judgement.site_ca_sha256 == sha256_hex(chain[1]));
  CHECK(judgement.public_key_pem == pki.key.public_key_pem);
  CHECK(judgement.not_before_ms == days(1).not_before_ms);
  CHECK(judgement.not_after_ms == days(1).not_after_ms);
  CHECK(judgement.leaf_serial == serial_hex(parse_certificate(chain[0]).value().get()));
  judgement = judge(asking(chain_for(pki, IdentityKind::kNode), Verb::kAttest), pki.anchors());
  CHECK(judgement.site_ca_sha256.empty());
}

TEST_CASE("the root may be present or absent") {
  Pki pki;
  for (IdentityKind kind : all_kinds()) {
    auto chain = chain_for(pki, kind);
    chain.push_back(pem_to_der(pki.root.certificate_pem).value()[0]);
    CHECK(verdict(asking(chain, first_verb(kind), host_of(kind)), pki.anchors()) == "allowed");
  }
}

TEST_CASE("a chain is bounded, and every byte of it is read") {
  Pki pki;
  auto chain = chain_for(pki, IdentityKind::kRamdisk);
  auto changed = [&chain](auto change) {
    auto copy = chain;
    change(copy);
    return asking(copy, Verb::kAttest);
  };
  using Chain = std::vector<std::string>;
  std::string root = pem_to_der(pki.root.certificate_pem).value()[0];
  Anchors anchors = pki.anchors();
  CHECK(verdict(changed([](Chain& c) { c.clear(); }), anchors) == "malformed");
  CHECK(verdict(changed([](Chain& c) { c[0] += '\0'; }), anchors) == "malformed");
  CHECK(verdict(changed([](Chain& c) { c[2] = "junk"; }), anchors) == "malformed");
  CHECK(verdict(changed([](Chain& c) { c[2].clear(); }), anchors) == "malformed");
  CHECK(verdict(changed([](Chain& c) { c[1].pop_back(); }), anchors) == "malformed");
  CHECK(verdict(changed([&](Chain& c) {
                  c.insert(c.end(), {root, root});
                }),
                anchors) == "chain-too-long");
  auto huge = [](Chain& c) { c[1].resize(limits::kCertificateBytes + 1); };
  CHECK(verdict(changed(huge), anchors) == "chain-too-long");
}

TEST_CASE("a chain is exactly its path: no link missing, doubled, swapped or added") {
  Pki pki;
  auto chain = chain_for(pki, IdentityKind::kRamdisk);
  auto node = chain_for(pki, IdentityKind::kNode);
  std::string root = pem_to_der(pki.root.certificate_pem).value()[0];
  std::string s2 = pem_to_der(pki.s2.certificate_pem).value()[0];
  Anchors anchors = pki.anchors();
  auto with = [&](std::vector<std::string> links) {
    return verdict(asking(std::move(links), Verb::kAttest), anchors);
  };
  CHECK(with({chain[0]}) == "untrusted");
  CHECK(with({chain[0], chain[1]}) == "untrusted");
  CHECK(with({chain[0], chain[2]}) == "untrusted");
  CHECK(with({chain[0], chain[1], root}) == "untrusted");
  CHECK(with({chain[0], chain[2], chain[1]}) == "malformed");
  CHECK(with({chain[0], chain[1], chain[1], chain[2]}) == "malformed");
  CHECK(with({chain[0], chain[0], chain[1], chain[2]}) == "malformed");
  CHECK(with({chain[0], chain[1], chain[2], chain[2]}) == "malformed");
  CHECK(with({chain[0], chain[1], chain[2], s2}) == "malformed");
  CHECK(with({node[0], node[1], s2}) == "malformed");
  CHECK(with({node[0], root, node[1]}) == "malformed");
  CHECK(with({node[0], node[1], root, root}) == "malformed");
  CHECK(with({chain[1], chain[2]}) == "not-a-leaf");
  CHECK(with({chain[2]}) == "not-a-leaf");
  CHECK(with({root}) == "not-a-leaf");
}

TEST_CASE("one changed bit anywhere in a certificate is not believed") {
  Pki pki;
  auto chain = chain_for(pki, IdentityKind::kRamdisk);
  Anchors anchors = pki.anchors();
  for (size_t link = 0; link < chain.size(); ++link) {
    for (size_t at = 0; at < chain[link].size(); at += 7) {
      auto changed = chain;
      changed[link][at] = static_cast<char>(changed[link][at] ^ 0x20);
      INFO(link << " " << at);
      CHECK_FALSE(judge(asking(changed, Verb::kAttest), anchors).allowed);
    }
  }
}

TEST_CASE("an authority that is not under our root is untrusted, whatever its names") {
  Pki pki;
  Pki other;  // the same names, other keys
  for (IdentityKind kind : all_kinds()) {
    auto request = asking(chain_for(other, kind), first_verb(kind), host_of(kind));
    CHECK(verdict(request, pki.anchors()) == "untrusted");
    request.chain_der.push_back(pem_to_der(other.root.certificate_pem).value()[0]);
    CHECK(verdict(request, pki.anchors()) == "untrusted");
  }
  Anchors broken = pki.anchors();
  auto chain = chain_for(pki, IdentityKind::kNode);
  broken.root_pem = "";
  CHECK(verdict(asking(chain, Verb::kAttest), broken) == "untrusted");
  broken.root_pem = pki.issuing.certificate_pem;
  CHECK(verdict(asking(chain, Verb::kAttest), broken) == "untrusted");
}

TEST_CASE("any link outside its time refuses the chain") {
  Pki pki;
  // Later ends below are cut by issue_*, so a forger makes the leaf that outlives its issuers.
  struct Case {
    int64_t root_days, issuing_days, site_days, leaf_days;
  };
  for (Case c :
       {Case{10, 99, 99, 99}, Case{99, 10, 99, 99}, Case{99, 99, 10, 99}, Case{99, 99, 99, 10}}) {
    CaKey root = issue_root(kDomain, days(c.root_days)).value();
    KeyPair issuing_key = generate_key();
    KeyPair site_key = generate_key();
    CaKey issuing = issue_issuing_ca(root, kDomain, days(c.issuing_days)).value();
    CaKey site = issue_site_ca(issuing, "s1", kDomain, days(c.site_days)).value();
    Forgery wish = uri_only(kRamdiskUri);
    wish.validity = days(c.leaf_days);
    auto chain = forged_chain(site, pki.key, wish);
    Anchors anchors{
        root.certificate_pem, kDomain, {{"s1", certificate_sha256(site.certificate_pem).value()}}};
    JudgeRequest request = asking(chain, Verb::kAttest);
    CHECK(verdict(request, anchors) == "allowed");
    request.instant_ms = kNowMs + 10 * kDayMs - 1000;
    CHECK(verdict(request, anchors) == "allowed");
    request.instant_ms = kNowMs + 10 * kDayMs + 1000;
    CHECK(verdict(request, anchors) == "expired");
    request.instant_ms = kNowMs - kDayMs - 1000;
    CHECK(verdict(request, anchors) == "not-yet-valid");
    request.ignore_validity = true;
    CHECK(verdict(request, anchors) == "allowed");
  }
}

TEST_CASE("a site CA that signs other kinds of its own site is the wrong issuer") {
  Pki pki;
  Forgery gateway = uri_only("spiffe://s1.example.net/gateway");
  CHECK(forged(pki, pki.s1, gateway, Verb::kServeGateway, "gateway.s1.example.net") ==
        "wrong-issuer");
  CHECK(forged(pki, pki.s1, uri_only("spiffe://s1.example.net/site-agent"), Verb::kSignRun) ==
        "wrong-issuer");
  CHECK(forged(pki, pki.s1, uri_only(kNodeUri), Verb::kAttest) == "wrong-issuer");
  CHECK(forged(pki, pki.s1, uri_only(kNodeUri), Verb::kReadSecret) == "wrong-issuer");
  CHECK(forged(pki, pki.s1, uri_only(kRamdiskUri), Verb::kAttest) == "allowed");
}

TEST_CASE("a site CA that signs for another site, or for the centre, is the wrong site") {
  Pki pki;
  CHECK(forged(pki, pki.s2, uri_only(kRamdiskUri), Verb::kAttest) == "wrong-site");
  CHECK(forged(pki, pki.s1, uri_only("spiffe://example.net/operator/ann"), Verb::kCallApi) ==
        "wrong-site");
  CHECK(forged(pki, pki.s1, uri_only("spiffe://s1.example.net.evil.org/gateway"),
               Verb::kServeGateway, "x") == "wrong-site");
}

TEST_CASE("neither the issuing CA nor the root signs a ramdisk") {
  Pki pki;
  CHECK(forged(pki, pki.issuing, uri_only(kRamdiskUri), Verb::kAttest) == "wrong-issuer");
  CHECK(forged(pki, pki.root, uri_only(kRamdiskUri), Verb::kAttest) == "wrong-issuer");
  CHECK(forged(pki, pki.root, uri_only(kNodeUri), Verb::kAttest) == "wrong-issuer");
}

TEST_CASE("a leaf's key signs nothing") {
  Pki pki;
  auto tenant = chain_for(pki, IdentityKind::kNodeTenant);
  CaKey as_issuer{der_to_pem(tenant[0]), pki.key.private_key_pem,
                  pki.s1.certificate_pem + pki.s1.chain_above_pem};
  CHECK(forged(pki, as_issuer, uri_only(kRamdiskUri), Verb::kAttest) == "untrusted");
  auto node = chain_for(pki, IdentityKind::kNode);
  as_issuer = {der_to_pem(node[0]), pki.key.private_key_pem, pki.issuing.certificate_pem};
  Forgery wish = uri_only(kNodeUri);
  CHECK(forged(pki, as_issuer, wish, Verb::kAttest) == "untrusted");
}

TEST_CASE("an authority below a site CA, or one of another form, is the wrong issuer") {
  Pki pki;
  KeyPair key = generate_key();
  Forgery ca;
  ca.common_name = "site CA, says s1";
  ca.basic_constraints = "critical,CA:TRUE,pathlen:0";
  ca.key_usage = "critical,keyCertSign,cRLSign";
  ca.extended_key_usage = "";
  CaKey below{der_to_pem(forge(pki.s1, key, ca)), key.private_key_pem,
              pki.s1.certificate_pem + pki.s1.chain_above_pem};
  CHECK(forged(pki, below, uri_only(kRamdiskUri), Verb::kAttest) == "wrong-issuer");
  // Under the issuing CA, but without the name constraints of a site CA, though it is recorded.
  CaKey loose{der_to_pem(forge(pki.issuing, key, ca)), key.private_key_pem,
              pki.issuing.certificate_pem};
  Anchors anchors = pki.anchors();
  anchors.site_cas.emplace_back("s1", certificate_sha256(loose.certificate_pem).value());
  auto chain = forged_chain(loose, pki.key, uri_only(kRamdiskUri));
  CHECK(verdict(asking(chain, Verb::kAttest), anchors) == "wrong-issuer");
  chain = forged_chain(loose, pki.key, uri_only(kNodeUri));
  CHECK(verdict(asking(chain, Verb::kAttest), anchors) == "wrong-issuer");
}

TEST_CASE("a site CA counts only if it is recorded, and for its own site") {
  Pki pki;
  auto request = asking(chain_for(pki, IdentityKind::kRamdisk), Verb::kAttest);
  Anchors anchors = pki.anchors();
  std::string digest = anchors.site_cas[0].second;
  anchors.site_cas = {};
  CHECK(verdict(request, anchors) == "unrecorded-site-ca");
  anchors.site_cas = {{"s2", digest}};
  CHECK(verdict(request, anchors) == "wrong-site");
  anchors.site_cas = {{"s2", digest}, {"s1", std::string(64, '0')}, {"s1", digest}};
  CHECK(verdict(request, anchors) == "allowed");
  // A second site CA of the same site, from our issuing CA, that nobody recorded.
  CaKey second = issue_site_ca(pki.issuing, "s1", kDomain, days(90)).value();
  CHECK(forged(pki, second, uri_only(kRamdiskUri), Verb::kAttest) == "unrecorded-site-ca");
}

TEST_CASE("exactly one URI, of exactly our forms") {
  Pki pki;
  Forgery wish = uri_only(kRamdiskUri);
  wish.names.emplace_back(GEN_URI, "spiffe://s1.example.net/node/n2/7/ramdisk/r-1");
  CHECK(forged(pki, pki.s1, wish, Verb::kAttest) == "bad-uri");
  wish = uri_only(kNodeUri);
  wish.names.emplace_back(GEN_URI, kNodeUri);
  CHECK(forged(pki, pki.issuing, wish, Verb::kAttest) == "bad-uri");
  CHECK(forged(pki, pki.issuing, uri_only("spiffe://s1.example.net/node/n1/07/node"),
               Verb::kAttest) == "bad-uri");
  CHECK(forged(pki, pki.issuing, uri_only("spiffe://s1.example.org/gateway"), Verb::kAttest) ==
        "bad-uri");
  CHECK(forged(pki, pki.issuing, uri_only(kNodeUri + std::string(1, '\0')), Verb::kAttest) ==
        "bad-uri");
  Forgery nothing;
  nothing.common_name = "nobody";
  CHECK(forged(pki, pki.issuing, nothing, Verb::kAttest) == "bad-uri");
}

TEST_CASE("names beside the URI are for servers only") {
  Pki pki;
  Forgery wish = uri_only(kRamdiskUri);
  wish.names.emplace_back(GEN_DNS, "gateway.s1.example.net");
  CHECK(forged(pki, pki.s1, wish, Verb::kAttest) == "forbidden-name");
  wish.names.back() = {GEN_IPADD, std::string("\x7f\0\0\1", 4)};
  CHECK(forged(pki, pki.s1, wish, Verb::kAttest) == "forbidden-name");
  wish.names.back() = {GEN_IPADD, std::string(16, '\1')};
  CHECK(forged(pki, pki.s1, wish, Verb::kAttest) == "forbidden-name");
  wish.names.back() = {GEN_EMAIL, "root@s1.example.net"};
  CHECK(forged(pki, pki.s1, wish, Verb::kAttest) == "forbidden-name");
  wish = uri_only(kNodeUri);
  wish.names.emplace_back(GEN_DNS, "gateway.s1.example.net");
  CHECK(forged(pki, pki.issuing, wish, Verb::kAttest) == "forbidden-name");
  // A common name that looks like a host counts as one.
  wish = uri_only(kRamdiskUri);
  wish.common_name = "gateway.s1.example.net";
  CHECK(forged(pki, pki.s1, wish, Verb::kAttest) == "forbidden-name");
}

TEST_CASE("a leaf has the key usages of a leaf and no more") {
  Pki pki;
  auto node = [&](auto change) {
    Forgery wish = uri_only(kNodeUri);
    change(wish);
    return forged(pki, pki.issuing, wish, Verb::kAttest);
  };
  CHECK(node([](Forgery&) {}) == "allowed");
  CHECK(node([](Forgery& w) { w.extended_key_usage = ""; }) == "not-a-leaf");
  CHECK(node([](Forgery& w) { w.extended_key_usage = "clientAuth"; }) == "not-a-leaf");
  CHECK(node([](Forgery& w) { w.extended_key_usage = "clientAuth,serverAuth,codeSigning"; }) ==
        "not-a-leaf");
  CHECK(node([](Forgery& w) { w.key_usage = "critical,digitalSignature,keyAgreement"; }) ==
        "not-a-leaf");
  CHECK(node([](Forgery& w) {
          w.basic_constraints = "critical,CA:TRUE,pathlen:0";
          w.key_usage = "critical,digitalSignature,keyCertSign";
          w.common_name = "node";
        }) == "not-a-leaf");
}

TEST_CASE("a server is judged against the host or address that was meant") {
  Pki pki;
  auto chain = chain_for(pki, IdentityKind::kGateway);
  auto meant = [&](const std::string& host) {
    return verdict(asking(chain, Verb::kServeGateway, host), pki.anchors());
  };
  CHECK(meant("gateway.s1.example.net") == "allowed");
  CHECK(meant("127.0.0.1") == "allowed");
  CHECK(meant("::1") == "allowed");
  CHECK(meant("127.0.0.2") == "wrong-host");
  CHECK(meant("gateway.s2.example.net") == "wrong-host");
  CHECK(meant("x.gateway.s1.example.net") == "wrong-host");
  CHECK(meant(".s1.example.net") == "wrong-host");
  CHECK(meant("") == "wrong-host");
  CHECK(meant(std::string("127.0.0.1\0x", 11)) == "wrong-host");
  CHECK(meant(std::string("gateway.s1.example.net\0.evil.org", 32)) == "wrong-host");
  Forgery wish = uri_only("spiffe://s1.example.net/gateway");
  wish.names.emplace_back(GEN_DNS, "*.s1.example.net");
  CHECK(forged(pki, pki.issuing, wish, Verb::kServeGateway, "gateway.s1.example.net") ==
        "wrong-host");
  auto node = chain_for(pki, IdentityKind::kNode);
  CHECK(verdict(asking(node, Verb::kSession, "n1.example.net"), pki.anchors()) == "wrong-host");
}

TEST_CASE("each reason has a name of its own") {
  std::vector<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(ChainRefusal::kForbiddenName); ++i) {
    names.push_back(chain_refusal_name(static_cast<ChainRefusal>(i)));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    CHECK_FALSE(names[i].empty());
    for (size_t j = 0; j < i; ++j) CHECK(names[i] != names[j]);
  }
}
