// Another program's word on our certificates: openssl(1) accepts what we issue, shows the critical
// extensions, and refuses by name constraints what a stolen site CA would sign.
#include <catch2/catch.hpp>

#include "core/base/subprocess.h"
#include "tests/unit/core/tls/files_folder.h"
#include "tests/unit/core/tls/pki.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

SubprocessOutcome openssl(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "openssl");
  return run_subprocess({arguments, {}, 30'000}).value();
}

SubprocessOutcome verify(const FilesFolder& folder, const Pki& pki,
                         const std::vector<std::string>& chain) {
  std::string root = folder.write("root.pem", pki.root.certificate_pem);
  std::string above;
  for (size_t i = 1; i < chain.size(); ++i) above += der_to_pem(chain[i]);
  return openssl({"verify", "-x509_strict", "-attime", std::to_string(kNowMs / 1000), "-CAfile",
                  root, "-untrusted", folder.write("above.pem", above),
                  folder.write("leaf.pem", der_to_pem(chain[0]))});
}

}  // namespace

TEST_CASE("openssl verify accepts a leaf of every kind") {
  Pki pki;
  FilesFolder folder;
  for (IdentityKind kind : all_kinds()) {
    SubprocessOutcome outcome = verify(folder, pki, chain_for(pki, kind));
    INFO(kind_name(kind) << outcome.out << outcome.err);
    CHECK(outcome.exit_code == 0);
  }
}

TEST_CASE("openssl verify refuses what a site CA may not name") {
  Pki pki;
  FilesFolder folder;
  auto error_of = [&](Forgery wish) {
    SubprocessOutcome outcome = verify(folder, pki, forged_chain(pki.s1, pki.key, wish));
    CHECK(outcome.exit_code != 0);
    return outcome.out + outcome.err;
  };
  Forgery dns;
  dns.names = {{GEN_URI, "spiffe://s1.example.net/gateway"}, {GEN_DNS, "gateway.s1.example.net"}};
  CHECK(error_of(dns).find("excluded subtree violation") != std::string::npos);
  Forgery ip;
  ip.names = {{GEN_URI, "spiffe://s1.example.net/gateway"}, {GEN_IPADD, "\x0a\x01\x01\x01"}};
  CHECK(error_of(ip).find("excluded subtree violation") != std::string::npos);
  Forgery site;
  site.names = {{GEN_URI, "spiffe://s2.example.net/node/n1/7/node-tenant"}};
  CHECK(error_of(site).find("permitted subtree violation") != std::string::npos);
}

TEST_CASE("openssl x509 shows the critical extensions") {
  Pki pki;
  FilesFolder folder;
  auto text_of = [&](const std::string& pem) {
    return openssl({"x509", "-noout", "-text", "-in", folder.write("x.pem", pem)}).out;
  };
  auto has = [](const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  std::string site = text_of(pki.s1.certificate_pem);
  has(site, "X509v3 Basic Constraints: critical\n                CA:TRUE, pathlen:0");
  has(site, "X509v3 Key Usage: critical\n                Certificate Sign, CRL Sign");
  has(site, "X509v3 Name Constraints: critical");
  has(site, "URI:s1.example.net");
  has(site, "IP:0.0.0.0/0.0.0.0");
  has(text_of(pki.issuing.certificate_pem), "CA:TRUE, pathlen:1");
  has(text_of(pki.root.certificate_pem), "CA:TRUE, pathlen:2");
  std::string leaf = text_of(der_to_pem(chain_for(pki, IdentityKind::kGateway)[0]));
  has(leaf, "X509v3 Key Usage: critical\n                Digital Signature\n");
  has(leaf, "TLS Web Client Authentication, TLS Web Server Authentication");
  has(leaf, "X509v3 Subject Alternative Name: critical");
  has(leaf, "URI:spiffe://s1.example.net/gateway, DNS:gateway.s1.example.net");
  has(leaf, "NIST CURVE: P-256");
}
