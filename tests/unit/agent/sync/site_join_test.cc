#include "agent/sync/site_join.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "core/tls/ca_files.h"
#include "tests/unit/agent/sync/fake_centre.h"

using namespace leasehold;
using namespace leasehold::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kToken = "a-token-of-one-use";
constexpr const char* kEnrol = "/v1/sites/s1/enrol";

struct Technician {
  LiveAuthority authority;
  test::TempFolder folder;
  SystemClock clock;
  SystemRandom random;
  CurlEasyClient http;

  SiteJoinOptions options(const FakeCentre& centre) {
    SiteJoinOptions made;
    made.coordinator = centre.url();
    made.address = centre.address();
    made.site = "s1";
    made.token = kToken;
    made.root_sha256 = authority.root_sha256();
    made.gateway_dns = {"gateway.s1.example.net"};
    made.gateway_ips = {"127.0.0.1"};
    made.out = folder.file("identity");
    return made;
  }
  Result<Json> join(const SiteJoinOptions& wish) { return site_join(wish, http, clock, random); }

  // A coordinator that does its work, but for what `spoil` does to its answer.
  FakeCentre::Answer enrolment(std::function<void(Json&)> spoil = [](Json&) {}) {
    return [this, spoil](const ServerRequest&, const Json& body) {
      Validity validity = authority.validity;
      SiteCaRequest ca;
      ca.site = "s1";
      ca.domain = authority.domain;
      ca.csr_pem = json_text(body, "siteCaCsr");
      ca.validity = validity;
      std::string site_ca = issue_site_ca(authority.issuing, ca).value();
      Json answer = Json::object();
      answer["root"] = authority.root.certificate_pem;
      answer["domain"] = authority.domain;
      answer["siteCa"] = site_ca;
      answer["siteAgent"] = authority.leaf(authority.identity(IdentityKind::kSiteAgent, "s1"),
                                           json_text(body, "siteAgentCsr"));
      answer["gateway"] = authority.leaf(authority.identity(IdentityKind::kGateway, "s1"),
                                         json_text(body, "gatewayCsr"),
                                         body["gatewayDns"].get<std::vector<std::string>>(),
                                         body["gatewayIps"].get<std::vector<std::string>>());
      std::string first = site_ca.substr(0, site_ca.find("-----END CERTIFICATE-----") + 26);
      answer["siteCas"] = Json{{"s1", {certificate_sha256(first).value()}}};
      spoil(answer);
      return json_response(200, dump_json(answer));
    };
  }
  // Nothing is left beside the folder either.
  bool nothing_written() const { return fs::is_empty(folder.path()); }
};

mode_t mode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 0777;
}

}  // namespace

TEST_CASE("site join: keys are made here, certified there, and written with their modes") {
  Technician technician;
  FakeCentre centre(technician.authority);
  centre.answer(kEnrol, technician.enrolment());
  SiteJoinOptions options = technician.options(centre);
  SECTION("into a new folder") {}
  SECTION("into an empty one") { fs::create_directory(options.out); }
  SECTION("with the fingerprint as openssl prints it") {
    std::string colons;
    for (size_t i = 0; i < options.root_sha256.size(); ++i) {
      if (i > 0 && i % 2 == 0) colons += ':';
      colons += static_cast<char>(::toupper(options.root_sha256[i]));
    }
    options.root_sha256 = colons;
  }
  Result<Json> members = technician.join(options);
  if (!members.ok()) FAIL(members.error().text());
  for (const char* key : {"site-agent.key", "gateway.key", "site-ca.key"}) {
    CHECK(mode_of(options.out + "/" + key) == 0600);
  }
  for (const char* key : {"site-agent.pem", "gateway.pem", "site-ca.pem", "root.pem"}) {
    CHECK(mode_of(options.out + "/" + key) == 0644);
  }
  Json identity = members.value()["identity"];
  CHECK(read_leaf(identity["certificate_file"], identity["private_key_file"]).ok());
  CHECK(read_ca_key(identity["site_ca_file"], identity["site_ca_key_file"]).ok());
  CHECK(read_anchors(identity["root_file"], identity["site_cas_file"], "example.net").ok());
  CHECK(members.value()["coordinator"] ==
        Json{{"url", options.coordinator}, {"address", options.address}});
  REQUIRE(centre.asked(kEnrol).size() == 1);
  CHECK(centre.asked(kEnrol)[0]["token"] == kToken);
  CHECK(centre.asked(kEnrol)[0].dump().find("PRIVATE") == std::string::npos);
}

TEST_CASE("site join: the token is never sent to whoever does not prove to be the coordinator") {
  Technician technician;
  LiveAuthority foreign;
  std::unique_ptr<FakeCentre> centre;
  std::string why;
  SiteJoinOptions options;
  SECTION("another root than the technician's") {
    centre = std::make_unique<FakeCentre>(foreign);
    options = technician.options(*centre);
    why = "not the one with the given SHA-256";
  }
  SECTION("our root, shown by a server that is not under it") {
    centre = std::make_unique<FakeCentre>(foreign);
    centre->answer("/v1/root", [&](const ServerRequest&, const Json&) {
      return json_response(200, dump_json(Json{{"root", technician.authority.root.certificate_pem},
                                               {"domain", "example.net"}}));
    });
    options = technician.options(*centre);
    why = "untrusted";
  }
  SECTION("a server of another kind, under our root") {
    centre = std::make_unique<FakeCentre>(technician.authority, IdentityKind::kSiteAgent);
    options = technician.options(*centre);
    why = "site-agent";
  }
  SECTION("a coordinator of another host") {
    centre = std::make_unique<FakeCentre>(technician.authority, IdentityKind::kCoordinator,
                                          "other.example.net");
    options = technician.options(*centre);
    why = "coordinator.example.net";
  }
  centre->answer(kEnrol, technician.enrolment());
  Result<Json> joined = technician.join(options);
  REQUIRE_FALSE(joined.ok());
  CHECK_THAT(joined.error().message, Catch::Contains(why));
  CHECK(centre->asked(kEnrol).empty());
  CHECK(technician.nothing_written());
}

TEST_CASE("site join: an answer that does not hold leaves nothing behind") {
  Technician technician;
  FakeCentre centre(technician.authority);
  SiteJoinOptions options = technician.options(centre);
  SECTION("a used token") {
    centre.answer(kEnrol, [](const ServerRequest&, const Json&) {
      return error_response(Error(Code::kUnauthenticated, "the token was used", "token"));
    });
    Result<Json> joined = technician.join(options);
    REQUIRE_FALSE(joined.ok());
    CHECK(joined.error().code == Code::kUnauthenticated);
    CHECK(joined.error().field == "token");
  }
  SECTION("another site's agent") {
    centre.answer(kEnrol, technician.enrolment(
                              [&](Json& answer) { answer["siteAgent"] = answer["gateway"]; }));
    CHECK_FALSE(technician.join(options).ok());
  }
  SECTION("a site CA that was not recorded") {
    centre.answer(kEnrol, technician.enrolment([](Json& answer) {
      answer["siteCas"] = Json{{"s2", answer["siteCas"]["s1"]}};
    }));
    CHECK_FALSE(technician.join(options).ok());
  }
  SECTION("a gateway for other names") {
    options.gateway_dns = {"gateway.s1.example.net", "second.s1.example.net"};
    centre.answer(kEnrol, [&](const ServerRequest& request, const Json& body) {
      Json fewer = body;
      fewer["gatewayDns"] = {"gateway.s1.example.net"};
      return technician.enrolment()(request, fewer);
    });
    CHECK_FALSE(technician.join(options).ok());
  }
  SECTION("half an answer") {
    centre.answer(kEnrol, technician.enrolment([](Json& answer) { answer.erase("siteCa"); }));
    Result<Json> joined = technician.join(options);
    REQUIRE_FALSE(joined.ok());
    CHECK_THAT(joined.error().message, Catch::Contains("siteCa"));
  }
  CHECK(technician.nothing_written());
}

TEST_CASE("site join: a folder that holds something is refused before anything is asked") {
  Technician technician;
  FakeCentre centre(technician.authority);
  centre.answer(kEnrol, technician.enrolment());
  SiteJoinOptions options = technician.options(centre);
  fs::create_directory(options.out);
  std::ofstream(options.out + "/site-ca.key") << "an older key";
  Result<Json> joined = technician.join(options);
  REQUIRE_FALSE(joined.ok());
  CHECK(joined.error().code == Code::kConflict);
  CHECK(centre.asked("/v1/root").empty());
  CHECK(fs::file_size(options.out + "/site-ca.key") == 12);
}

TEST_CASE("site join: bad input names its field") {
  Technician technician;
  FakeCentre centre(technician.authority);
  SiteJoinOptions options = technician.options(centre);
  std::string field;
  SECTION("site") { options.site = "S 1", field = "site"; }
  SECTION("url") { options.coordinator = "http://coordinator.example.net", field = "url"; }
  SECTION("url with a path") { options.coordinator += "/v1", field = "url"; }
  SECTION("address") { options.address = "127.0.0.1", field = "address"; }
  SECTION("fingerprint") { options.root_sha256 = "abc", field = "root-sha256"; }
  SECTION("token") { options.token.clear(), field = "token"; }
  Result<Json> joined = technician.join(options);
  REQUIRE_FALSE(joined.ok());
  CHECK(joined.error().code == Code::kInvalidInput);
  CHECK(joined.error().field == field);
  CHECK(technician.nothing_written());
}
