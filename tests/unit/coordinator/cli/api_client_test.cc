#include "coordinator/cli/api_client.h"

#include <catch2/catch.hpp>

#include "tests/unit/coordinator/cli/fake_api.h"

namespace leasehold::test {

TEST_CASE("a call shows our certificate and returns the answer") {
  Bench bench;
  bench.coordinator.answer("GET /v1/whoami", {{"kind", "operator"}});
  CHECK(bench.api.get("/v1/whoami").value()["kind"] == "operator");
  CHECK(bench.coordinator.client_chain() == 2);  // leaf and issuing CA
}

TEST_CASE("an error of the coordinator is its own, with what its code advises") {
  Bench bench;
  bench.coordinator.refuse("GET /v1/pools/x", Error(Code::kNotFound, "there is no pool x", "pool"));
  const Error error = bench.api.get("/v1/pools/x").error();
  CHECK(error.code == Code::kNotFound);
  CHECK(error.field == "pool");
  CHECK(has(error.message, "there is no pool x\nCheck the name"));
  CHECK_FALSE(bench.api.may_come_back(error));
  bench.coordinator.answer_raw("GET /v1/status", HttpResponse{502, {}, "<html>"});
  const Error other = bench.api.get("/v1/status").error();
  CHECK(other.code == Code::kMalformed);
  CHECK(has(other.message, "no coordinator of this version: status 502"));
}

TEST_CASE("a server that is not our coordinator is not told anything") {
  Bench bench;
  const auto refused = [&](const CaKey& issuer, const LeafRequest& leaf, ClientConfig config) {
    FakeApi other(issuer, leaf, bench.key);
    other.answer("POST /v1/sites", {{"site", "s1"}});
    config.url = "https://127.0.0.1:" + other.port();
    ApiClient api(std::move(config), bench.http, bench.clock);
    const Error error = api.send("POST", "/v1/sites", {{"site", "s1"}}).error();
    CHECK(error.code == Code::kForbidden);
    CHECK_FALSE(api.may_come_back(error));
    CHECK(other.asked().empty());
    return error.message;
  };
  CHECK(has(refused(make_pki().issuing, bench.server_leaf(), bench.config()),
            "does not come from the root in root.pem"));
  CHECK(has(refused(bench.pki.issuing, bench.server_leaf(IdentityKind::kSiteAgent), bench.config()),
            "is not a coordinator's of example.net"));
  LeafRequest elsewhere = bench.server_leaf();
  elsewhere.ip_addresses = {"127.0.0.2"};
  CHECK(has(refused(bench.pki.issuing, elsewhere, bench.config()), "not for the host 127.0.0.1"));
  LeafRequest over = bench.server_leaf();
  over.validity = around_now(2 * kHour, -kHour);
  CHECK(has(refused(bench.pki.issuing, over, bench.config()), "has expired at"));
}

TEST_CASE("a coordinator that is not there is said so, and may come back") {
  Bench bench;
  ClientConfig config = bench.config();
  config.url = "https://127.0.0.1:1";
  ApiClient api(config, bench.http, bench.clock);
  const Error error = api.get("/v1/status").error();
  CHECK(error.code == Code::kUnavailable);
  CHECK(has(error.message, "https://127.0.0.1:1 is not reached"));
  CHECK(api.may_come_back(error));
}

TEST_CASE("a list is read page after page, up to what was asked for") {
  Bench bench;
  FakeApi& api = bench.coordinator;
  api.answer("GET /v1/nodes?site=s1&limit=1000", {{"items", {1, 2}}, {"next", "c2"}});
  api.answer("GET /v1/nodes?site=s1&limit=1000&after=c2", {{"items", {3}}, {"next", ""}});
  CHECK(bench.api.list("/v1/nodes", {{"site", "s1"}, {"pool", ""}}).value() == Json{1, 2, 3});
  api.answer("GET /v1/nodes?site=s1&limit=2", {{"items", {1, 2}}, {"next", "c2"}});
  CHECK(bench.api.list("/v1/nodes", {{"site", "s1"}}, 2).value() == Json{1, 2});
  // A cursor that does not move, and pages that are empty, end it.
  api.answer("GET /v1/runs?limit=1000", {{"items", {1}}, {"next", "c"}});
  api.answer("GET /v1/runs?limit=1000&after=c", {{"items", {2}}, {"next", "c"}});
  CHECK(bench.api.list("/v1/runs", {}).value() == Json{1, 2});
  api.answer("GET /v1/pools", Json::object());
  CHECK(bench.api.list("/v1/pools", {}).error().code == Code::kInvalidInput);
}

TEST_CASE("parts of a path are encoded") {
  CHECK(url_part("a-b_c.d~9") == "a-b_c.d~9");
  CHECK(url_part("a/b?c#d e%") == "a%2fb%3fc%23d%20e%25");
  CHECK(query_text({{"a", "1"}, {"b", ""}, {"c", "x y"}}) == "?a=1&c=x%20y");
  CHECK(query_text({{"b", ""}}).empty());
}

}  // namespace leasehold::test
