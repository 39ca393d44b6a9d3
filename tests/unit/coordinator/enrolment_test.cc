#include <catch2/catch.hpp>

#include "coordinator/limits.h"
#include "coordinator/store/records.h"
#include "coordinator/store/sites.h"
#include "tests/support/coordinator_rig.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

std::string token_for(CoordinatorRig& rig, const std::string& site) {
  return json_text(rig.post("/v1/sites/" + site + "/token", Json::object()).body, "token");
}

// The refusal of a chain for a verb, or "allowed".
std::string judged(const CoordinatorRig& rig, const std::string& chain_pem, Verb verb,
                   const std::vector<std::pair<std::string, std::string>>& cas = {},
                   const std::string& host = "") {
  JudgeRequest request{pem_to_der(chain_pem).value(), kNow, verb, host, false};
  Judgement judgement = judge(request, {rig.config.root_pem, "example.net", cas});
  return judgement.allowed ? "allowed" : std::string(chain_refusal_name(judgement.refusal));
}

}  // namespace

TEST_CASE("a site is enrolled with its token, once") {
  CoordinatorRig rig;
  REQUIRE(rig.post("/v1/sites", {{"site", "s1"}}).status == 200);
  Answer made = rig.post("/v1/sites/s1/token", Json::object());
  REQUIRE(made.status == 200);
  CHECK(json_text(made.body, "rootSha256") == rig.config.root_sha256);
  CHECK(json_text(made.body, "expiresAt") == format_time(kNow + limits::kEnrolTokenMs));
  const std::string token = json_text(made.body, "token");

  Answer enrolled = rig.call("POST", "/v1/sites/s1/enrol", rig.enrolment(token));
  REQUIRE(enrolled.status == 200);
  const std::string ca = json_text(enrolled.body, "siteCa");
  CHECK(json_member(enrolled.body, "siteCas") ==
        Json{{"s1", {certificate_sha256(ca.substr(0, ca.find("-----END") + 25)).value()}}});
  CHECK(judged(rig, json_text(enrolled.body, "siteAgent"), Verb::kSyncRows) == "allowed");
  CHECK(judged(rig, json_text(enrolled.body, "gateway"), Verb::kServeGateway, {}, "192.0.2.7") ==
        "allowed");
  CHECK(json_text(rig.get("/v1/sites/s1").body, "state") == "enrolled");

  Answer again = rig.call("POST", "/v1/sites/s1/enrol", rig.enrolment(token));
  CHECK(again.status == 401);
  CHECK(again.code() == "UNAUTHENTICATED");
  CHECK(again.field() == "token");
}

TEST_CASE("certificates are rows before anybody has them") {
  CoordinatorRig rig;
  Signer agent = rig.enrol();
  CertificateFacts facts = certificate_facts(agent.chain_pem[0]).value();
  REQUIRE(rig.read([&](Sql& sql) -> Status {
               auto row = TRY(store::find_certificate(sql, facts.serial));
               REQUIRE(row.has_value());
               CHECK(row->kind == "site-agent");
               CHECK(row->identity == "spiffe://s1.example.net/site-agent");
               CHECK(row->enrolment == 1);
               return {};
             })
              .ok());
}

TEST_CASE("a token that is wrong, of another site, replaced or ten minutes old enrols nobody") {
  CoordinatorRig rig;
  rig.post("/v1/sites", {{"site", "s1"}});
  rig.post("/v1/sites", {{"site", "s2"}});
  const std::string first = token_for(rig, "s1");
  const std::string second = token_for(rig, "s1");
  const std::string other = token_for(rig, "s2");
  auto refused = [&](const std::string& token) {
    Answer answer = rig.call("POST", "/v1/sites/s1/enrol", rig.enrolment(token));
    return std::to_string(answer.status) + " " + answer.field();
  };
  CHECK(refused(first) == "401 token");
  CHECK(refused(other) == "401 token");
  CHECK(refused("") == "401 token");
  CHECK(refused("guess") == "401 token");
  CHECK(rig.call("POST", "/v1/sites/s9/enrol", rig.enrolment(second)).status == 401);
  rig.clock.advance(limits::kEnrolTokenMs);
  CHECK(refused(second) == "401 token");
  const std::string fresh = token_for(rig, "s1");
  rig.clock.advance(limits::kEnrolTokenMs - 1);
  CHECK(rig.call("POST", "/v1/sites/s1/enrol", rig.enrolment(fresh)).status == 200);
}

TEST_CASE("no token is in the database, the audit or the events") {
  CoordinatorRig rig;
  rig.post("/v1/sites", {{"site", "s1"}});
  const std::string token = token_for(rig, "s1");
  REQUIRE(rig.call("POST", "/v1/sites/s1/enrol", rig.enrolment(token)).status == 200);
  std::string all = rig.get("/v1/audit").text + rig.get("/v1/events?after=0").text;
  REQUIRE(rig.read([&](Sql& sql) -> Status {
               store::Site site = TRY(store::need_site(sql, "s1"));
               all += site.token_sha256;
               return {};
             })
              .ok());
  CHECK(all.find("site.enrolled") != std::string::npos);
  CHECK(all.find(token) == std::string::npos);
}

TEST_CASE("an enrolment that fails leaves nothing behind, and the token can still be used") {
  CoordinatorRig rig;
  rig.post("/v1/sites", {{"site", "s1"}});
  const std::string token = token_for(rig, "s1");
  auto with = [&](const char* member, const Json& value) {
    Json body = rig.enrolment(token);
    body[member] = value;
    return rig.call("POST", "/v1/sites/s1/enrol", body);
  };
  CHECK(with("siteAgentCsr", "no csr").field() == "siteAgentCsr");
  CHECK(with("siteCaCsr", "no csr").field() == "siteCaCsr");
  CHECK(with("gatewayDns", {"a b"}).field() == "gatewayDns");
  CHECK(with("gatewayIps", {"300.1.1.1"}).field() == "gatewayIps");
  CHECK(with("tokn", "x").field() == "tokn");
  for (const char* name : {"gateway.s2.example.net", "coordinator.example.net", "example.net",
                           "s1.example.net", "xs1.example.net", "www.example.org"}) {
    INFO(name);
    Answer answer = with("gatewayDns", {name});
    CHECK(answer.code() == "FORBIDDEN");
    CHECK(answer.field() == "gatewayDns");
  }
  CHECK(json_text(rig.get("/v1/sites/s1").body, "state") == "created");
  CHECK(json_member(rig.get("/v1/sites/s1").body, "siteCas").empty());
  CHECK(with("gatewayDns", {"gw.rack.s1.example.net"}).status == 200);
}

TEST_CASE("a site has its own certificates renewed, and nothing else") {
  CoordinatorRig rig;
  Signer agent = rig.enrol();
  const std::string csr = make_csr(generate_key().private_key_pem).value();
  auto renew = [&](Json body) { return rig.call("POST", "/v1/site/renew", body, &agent, "i-1"); };
  Answer leaf = renew({{"kind", "site-agent"}, {"csr", csr}});
  REQUIRE(leaf.status == 200);
  CHECK(judged(rig, json_text(leaf.body, "chain"), Verb::kSyncRows) == "allowed");
  Answer gateway = renew({{"kind", "gateway"}, {"csr", csr}});
  REQUIRE(gateway.status == 200);
  CHECK(judged(rig, json_text(gateway.body, "chain"), Verb::kServeGateway, {}, "192.0.2.7") ==
        "allowed");
  Answer ca = renew({{"kind", "site-ca"}, {"csr", csr}});
  REQUIRE(ca.status == 200);
  CHECK(json_member(json_member(ca.body, "siteCas"), "s1").size() == 2);

  for (const char* kind :
       {"node", "operator", "tenant", "coordinator", "ramdisk", "node-tenant", "issuing-ca", ""}) {
    INFO(kind);
    Answer answer = renew({{"kind", kind}, {"csr", csr}});
    CHECK(answer.code() == "FORBIDDEN");
    CHECK(answer.field() == "kind");
  }
  Answer wider =
      renew({{"kind", "gateway"}, {"csr", csr}, {"gatewayDns", {"gateway.s2.example.net"}}});
  CHECK(wider.code() == "FORBIDDEN");
  CHECK(wider.field() == "gatewayDns");
  CHECK(renew({{"kind", "gateway"}, {"csr", csr}, {"gatewayIps", {"192.0.2.8"}}}).field() ==
        "gatewayIps");
  CHECK(renew({{"kind", "gateway"}, {"csr", csr}, {"site", "s2"}}).field() == "site");
  CHECK(renew({{"kind", "site-agent"}, {"csr", "none"}}).field() == "csr");
}

TEST_CASE("a site gets only so many site CAs at a time") {
  CoordinatorRig rig;
  Signer agent = rig.enrol();
  const std::string csr = make_csr(generate_key().private_key_pem).value();
  auto renew = [&] {
    return rig.call("POST", "/v1/site/renew", {{"kind", "site-ca"}, {"csr", csr}}, &agent);
  };
  for (int64_t i = 1; i < limits::kSiteCasAlive; ++i) REQUIRE(renew().status == 200);
  CHECK(renew().code() == "CONFLICT");
}

TEST_CASE("what a site CA signs, hostile, is refused by its own reason") {
  CoordinatorRig rig;
  rig.post("/v1/sites", {{"site", "s1"}});
  rig.post("/v1/sites", {{"site", "s2"}});
  const KeyPair ca_key = generate_key();
  Json body = rig.enrolment(token_for(rig, "s1"));
  body["siteCaCsr"] = make_csr(ca_key.private_key_pem).value();
  Answer enrolled = rig.call("POST", "/v1/sites/s1/enrol", body);
  REQUIRE(enrolled.status == 200);
  const std::vector<std::string> chain = split_chain(json_text(enrolled.body, "siteCa")).value();
  const CaKey ca{chain[0], ca_key.private_key_pem, chain[1]};
  const std::vector<std::pair<std::string, std::string>> cas = {
      {"s1", certificate_sha256(chain[0]).value()}};
  // Its own ramdisk is its business, but no caller of the API.
  auto refusal = [&](const RogueLeaf& wish, Verb verb, const std::string& host = "") {
    std::string text;
    for (const std::string& pem : sign_in_rogue(ca, wish).chain_pem) text += pem;
    return judged(rig, text, verb, cas, host);
  };
  auto api_says = [&](const RogueLeaf& wish, const char* path) {
    Signer rogue = sign_in_rogue(ca, wish);
    return rig.call("GET", path, {}, &rogue);
  };
  const std::string own = "spiffe://s1.example.net/";
  const std::string other = "spiffe://s2.example.net/";
  const std::string centre = "spiffe://example.net/";
  CHECK(refusal({{own + "node/n1/4/ramdisk/r-1"}, {}, false}, Verb::kAttest) == "allowed");
  CHECK(refusal({{other + "node/n1/4/ramdisk/r-1"}, {}, false}, Verb::kAttest) == "wrong-site");
  CHECK(refusal({{own + "node/n1/4/node"}, {}, false}, Verb::kAttest) == "wrong-issuer");
  CHECK(refusal({{own + "site-agent"}, {}, false}, Verb::kSyncRows) == "wrong-issuer");
  CHECK(refusal({{other + "site-agent"}, {}, false}, Verb::kSyncRows) == "wrong-site");
  CHECK(refusal({{own + "gateway"}, {"gateway.s1.example.net"}, false}, Verb::kServeGateway,
                "gateway.s1.example.net") == "forbidden-name");
  CHECK(refusal({{centre + "operator/admin"}, {}, false}, Verb::kCallApi) == "wrong-site");
  CHECK(refusal({{centre + "tenant/acme/ann"}, {}, false}, Verb::kCallApi) == "wrong-site");
  CHECK(refusal({{centre + "coordinator/c"}, {}, false}, Verb::kSignReceipt) == "wrong-site");
  CHECK(refusal({{own + "node/n1/4/ramdisk/r-1"}, {"www.example.org"}, false}, Verb::kAttest) ==
        "forbidden-name");
  CHECK(refusal({{own + "site-agent"}, {}, true}, Verb::kSyncRows) != "allowed");

  rig.get("/v1/status");  // the newly recorded site CA is known to the door from here on
  Answer ramdisk = api_says({{own + "node/n1/4/ramdisk/r-1"}, {}, false}, "/v1/nodes");
  CHECK(ramdisk.code() == "FORBIDDEN");
  CHECK(json_text(ramdisk.body, "message").find("kind-may-not") != std::string::npos);
  for (const std::string& uri : {centre + "operator/admin", own + "site-agent",
                                 other + "site-agent", own + "node/n1/4/node"}) {
    INFO(uri);
    CHECK(api_says({{uri}, {}, false}, "/v1/nodes").code() == "UNAUTHENTICATED");
  }
  Signer forged = sign_in_rogue(ca, {{other + "site-agent"}, {}, false});
  CHECK(rig.call("POST", "/v1/sync/hello", Json::object(), &forged).code() == "UNAUTHENTICATED");
}

TEST_CASE("after a new enrolment the former agent's certificate is superseded") {
  CoordinatorRig rig;
  Signer former = rig.enrol();
  const std::string csr = make_csr(generate_key().private_key_pem).value();
  const Json renewal = {{"kind", "site-agent"}, {"csr", csr}};
  REQUIRE(rig.call("POST", "/v1/site/renew", renewal, &former).status == 200);
  Json body = rig.enrolment(token_for(rig, "s1"));
  REQUIRE(rig.call("POST", "/v1/sites/s1/enrol", body).status == 200);
  Answer refused = rig.call("POST", "/v1/site/renew", renewal, &former);
  CHECK(refused.status == 409);
  CHECK(refused.code() == "SUPERSEDED");
}
