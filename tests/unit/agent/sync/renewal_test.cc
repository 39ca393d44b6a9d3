#include "agent/sync/renewal.h"

#include <catch2/catch.hpp>

#include "core/base/files.h"
#include "tests/unit/agent/sync/fake_centre.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

// A site whose certificates are past half of their life, or not, and its coordinator.
struct Site {
  LiveAuthority authority;
  FakeCentre centre{authority};
  TempFolder folder{TempFolder::Where::kMemory};
  SystemClock clock;
  SystemRandom random;
  LoopThread loop;
  std::unique_ptr<CurlMulti> http;
  SiteIdentity first;
  CurrentIdentity identity;
  IdentityPaths paths;
  KeyPair agent_key = generate_key();
  KeyPair ca_key = generate_key();
  std::unique_ptr<CoordinatorClient> client;
  std::unique_ptr<Renewal> renewal;

  explicit Site(int64_t agent_left_ms, int64_t ca_left_ms) {
    for (auto [path, name] : {std::pair(&paths.root, "root.pem"),
                              {&paths.site_cas, "cas.json"},
                              {&paths.site_ca, "ca.pem"},
                              {&paths.site_ca_key, "ca.key"},
                              {&paths.certificate, "agent.pem"},
                              {&paths.private_key, "agent.key"}}) {
      *path = folder.file(name);
    }
    std::string ca = site_ca(ca_left_ms);
    put(paths.root, authority.root.certificate_pem, 0644);
    put(paths.site_cas, dump_json(Json{{"s1", {certificate_facts(ca).value().sha256}}}), 0644);
    put(paths.site_ca, ca, 0644);
    put(paths.site_ca_key, ca_key.private_key_pem, 0600);
    put(paths.certificate, agent("s1", agent_key, agent_left_ms), 0644);
    put(paths.private_key, agent_key.private_key_pem, 0600);
    first.site = "s1";
    first.domain = authority.domain;
    REQUIRE(read_identity_files(paths, first).ok());
    identity.replace(&first);
    loop.on_loop([this] { http = std::make_unique<CurlMulti>(loop.loop()); });
    client = std::make_unique<CoordinatorClient>(
        *http, parse_coordinator_place(centre.url(), centre.address()).value(), identity, clock,
        "a-1", [](const std::string&) {});
    renewal = std::make_unique<Renewal>(paths, identity, clock, random);
  }
  ~Site() {
    loop.on_loop([this] { http.reset(); });
  }

  void put(const std::string& path, const std::string& text, mode_t mode) {
    REQUIRE(write_file_atomic(path, text, mode).ok());
  }
  std::string text(const std::string& path) { return read_file(path, 1 << 20).value(); }
  Validity left(int64_t left_ms) const {
    return {authority.validity.not_before_ms, SystemClock().now_ms() + left_ms};
  }
  std::string agent(const std::string& site, const KeyPair& key, int64_t left_ms) const {
    LeafRequest request;
    request.identity = authority.identity(IdentityKind::kSiteAgent, site);
    request.csr_pem = make_csr(key.private_key_pem).value();
    request.validity = left(left_ms);
    return issue_leaf(authority.issuing, request).value();
  }
  std::string site_ca(int64_t left_ms) const {
    SiteCaRequest request;
    request.site = "s1";
    request.domain = authority.domain;
    request.csr_pem = make_csr(ca_key.private_key_pem).value();
    request.validity = left(left_ms);
    return issue_site_ca(authority.issuing, request).value();
  }
  void answer(std::function<Json(const std::string& kind)> how) {
    centre.answer("/v1/site/renew", [how](const ServerRequest&, const Json& body) {
      return json_response(200, dump_json(how(json_text(body, "kind"))));
    });
  }
  size_t asked() { return centre.asked("/v1/site/renew").size(); }
};

constexpr int64_t kSoon = kHourMs / 10;
constexpr int64_t kLong = 10 * kHourMs;

}  // namespace

TEST_CASE("renewal: an agent's certificate past half of its life is renewed and used at once") {
  Site site(kSoon, kLong);
  site.answer([&](const std::string& kind) {
    CHECK(kind == "site-agent");
    return Json{{"chain", site.agent("s1", site.agent_key, kLong)}, {"siteCas", Json::object()}};
  });
  std::string before = site.text(site.paths.certificate);
  site.renewal->look(*site.client);
  CHECK(site.asked() == 1);
  CHECK(site.text(site.paths.certificate) != before);
  CHECK(site.identity->agent_chain_pem != site.first.agent_chain_pem);
  CHECK(site.first.agent_chain_pem == before);  // whoever holds it still reads it
  SiteIdentity read = site.first;
  CHECK(read_identity_files(site.paths, read).ok());
  site.renewal->look(*site.client);
  CHECK(site.asked() == 1);
}

TEST_CASE("renewal: a renewed site CA stands beside the one before") {
  Site site(kLong, kSoon);
  std::string next = site.site_ca(kLong);
  std::string sha256 = certificate_facts(next).value().sha256;
  site.answer([&](const std::string& kind) {
    CHECK(kind == "site-ca");
    return Json{{"chain", next}, {"siteCas", {{"s1", {sha256}}}}};
  });
  site.renewal->look(*site.client);
  CHECK(certificate_sha256(site.identity->site_ca.certificate_pem).value() == sha256);
  CHECK(site.identity->anchors.site_cas.size() == 2);
}

TEST_CASE("renewal: what is not due is not asked for") {
  Site site(kLong, kLong);
  site.renewal->look(*site.client);
  CHECK(site.asked() == 0);
}

TEST_CASE("renewal: an answer that does not fit changes nothing, and is not asked for at once") {
  Site site(kSoon, kLong);
  KeyPair other = generate_key();
  Json answer = Json::object();
  SECTION("another key") { answer["chain"] = site.agent("s1", other, kLong); }
  SECTION("another site") { answer["chain"] = site.agent("s2", site.agent_key, kLong); }
  SECTION("no certificate") { answer["chain"] = "no"; }
  SECTION("nothing") {}
  site.answer([&](const std::string&) { return answer; });
  std::string before = site.text(site.paths.certificate);
  site.renewal->look(*site.client);
  site.renewal->look(*site.client);
  CHECK(site.asked() == 1);
  CHECK(site.text(site.paths.certificate) == before);
  CHECK(site.identity->agent_chain_pem == before);
}

TEST_CASE("renewal: the gateway's CSR goes to the coordinator and its chain comes back") {
  Site site(kLong, kLong);
  site.answer([&](const std::string& kind) {
    CHECK(kind == "gateway");
    return Json{{"chain", "the chain"}, {"siteCas", Json::object()}};
  });
  std::string chain;
  site.renewal->ask_for_gateway(
      "a csr", [&](const Result<std::string>& got) { chain = got.ok() ? got.value() : ""; });
  site.renewal->look(*site.client);
  CHECK(chain == "the chain");
  CHECK(site.centre.asked("/v1/site/renew")[0]["csr"] == "a csr");
}
