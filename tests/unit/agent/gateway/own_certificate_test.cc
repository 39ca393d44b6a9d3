#include "agent/gateway/own_certificate.h"

#include <catch2/catch.hpp>

#include "core/base/files.h"
#include "core/tls/crypto.h"
#include "core/tls/x509.h"
#include "tests/support/temp_folder.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

constexpr int64_t kHour = 3'600'000;

struct Gateway {
  SystemClock clock;
  SystemRandom random;
  Loop loop;
  TempFolder folder{TempFolder::Where::kMemory};
  std::string file = folder.file("gateway.pem");
  KeyPair key = generate_key();
  Validity authority{clock.now_ms() - 10 * kHour, clock.now_ms() + 90 * kHour};
  CaKey root = issue_root("example.net", authority).value();
  CaKey issuing = issue_issuing_ca(root, "example.net", authority).value();
  std::vector<std::string> sent;
  std::vector<TlsServerConfig> served;

  std::string chain(int64_t left_ms, const KeyPair& whose) const {
    LeafRequest request;
    request.identity.kind = IdentityKind::kGateway;
    request.identity.domain = "example.net";
    request.identity.site = "s1";
    request.csr_pem = make_csr(whose.private_key_pem).value();
    request.validity = {authority.not_before_ms, SystemClock().now_ms() + left_ms};
    request.dns_names = {"gateway.s1.example.net"};
    return issue_leaf(issuing, request).value();
  }
  OwnCertificate own(int64_t left_ms) {
    TlsServerConfig tls;
    tls.certificate_chain_pem = chain(left_ms, key);
    tls.private_key_pem = key.private_key_pem;
    return OwnCertificate(loop, clock, random, tls, file,
                          {[this](std::string frame) { sent.push_back(std::move(frame)); },
                           [this](const TlsServerConfig& next) -> Status {
                             SslCtx fits = TRY(make_server_context(next));
                             served.push_back(next);
                             return {};
                           }});
  }
};

}  // namespace

TEST_CASE("gateway certificate: past half of its life a CSR for its own key is sent") {
  Gateway gateway;
  OwnCertificate old = gateway.own(kHour);
  old.watch();
  REQUIRE(gateway.sent.size() == 1);
  Json frame = parse_json(gateway.sent[0]).value();
  CHECK(frame["type"] == "renew");
  CHECK(csr_der(frame["csr"]).ok());
  CHECK(gateway.sent[0].find("PRIVATE") == std::string::npos);
  OwnCertificate young = gateway.own(80 * kHour);
  young.watch();
  CHECK(gateway.sent.size() == 1);
}

TEST_CASE("gateway certificate: a renewed one is served and kept, one for another key is not") {
  Gateway gateway;
  OwnCertificate own = gateway.own(kHour);
  own.renewed(gateway.chain(80 * kHour, generate_key()));
  own.renewed("no certificate");
  CHECK(gateway.served.empty());
  CHECK_FALSE(read_file(gateway.file, 1 << 16).ok());
  std::string next = gateway.chain(80 * kHour, gateway.key);
  own.renewed(next);
  REQUIRE(gateway.served.size() == 1);
  CHECK(gateway.served[0].certificate_chain_pem == next);
  CHECK(read_file(gateway.file, 1 << 16).value() == next);
  own.watch();
  CHECK(gateway.sent.empty());
}
