#include "coordinator/cli/sites.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "coordinator/cli/evidence_files.h"
#include "coordinator/cli/overview.h"
#include "coordinator/cli/pools.h"
#include "tests/unit/coordinator/cli/fake_api.h"

namespace leasehold::test {
namespace {

Json token_answer() {
  return {{"site", "s1"},
          {"token", "tok-1234"},
          {"expiresAt", "2026-11-29T12:10:00.000Z"},
          {"rootSha256", "ab12"},
          {"url", "https://coordinator.example.net:8440"}};
}

}  // namespace

TEST_CASE("site list shows contact and debts, and what to do if there is none") {
  Bench bench;
  bench.coordinator.answer("GET /v1/sites?limit=1000",
                           {{"items",
                             {{{"site", "s1"},
                               {"state", "enrolled"},
                               {"lastContactAt", "2026-11-29T11:59:59.000Z"},
                               {"behind", 3},
                               {"siteCas", Json::array()},
                               {"alarm", {{"code", "SUPERSEDED"}, {"message", "two agents"}}}},
                              {{"site", "s2"}, {"state", "created"}, {"lastContactAt", ""}}}},
                            {"next", ""}});
  bench.coordinator.answer("GET /v1/sites?limit=1000", {{"items", Json::array()}, {"next", ""}});
  REQUIRE(site_list(bench.session).ok());
  const std::string text = bench.printed();
  INFO(text);
  CHECK(has(text, "s1    enrolled  11:59:59           3"));
  CHECK(has(text, "SUPERSEDED: two agents"));
  CHECK(has(text, "s2    created   never"));
  REQUIRE(site_list(bench.session).ok());
  CHECK(bench.printed() == "no sites yet: make one with leasehold site create SITE\n");
}

TEST_CASE("a token is shown once with the command that uses it, or goes into a file of mode 0600") {
  Bench bench;
  bench.coordinator.answer("POST /v1/sites/s1/token", token_answer());
  REQUIRE(site_token(bench.session, {"s1", ""}).ok());
  const std::string shown = bench.printed();
  CHECK(has(shown, "\n  tok-1234\n"));
  CHECK(has(shown, "--root-sha256 ab12"));
  CHECK(has(shown, "--token-file FILE"));
  TempFolder folder;
  const std::string file = folder.file("token");
  REQUIRE(site_token(bench.session, {"s1", file}).ok());
  CHECK_FALSE(has(bench.printed(), "tok-1234"));
  CHECK(read_secret_file(file, 100).value() == "tok-1234");
  struct stat info {};
  REQUIRE(::stat(file.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  bench.console.json = true;
  REQUIRE(site_token(bench.session, {"s1", file}).ok());
  const Json json = bench.printed_json();
  CHECK_FALSE(json.contains("token"));
  CHECK(json["tokenFile"] == file);
  REQUIRE(site_token(bench.session, {"s1", ""}).ok());
  CHECK(bench.printed_json() == token_answer());
}

TEST_CASE("a takeover says how long the former agent was not heard, and wants a yes") {
  Bench bench;
  const Json waiting = {
      {"site", "s1"},
      {"former", {{"heardAt", "2026-11-29T11:00:00.000Z"}, {"until", "2026-12-14T11:00:00.000Z"}}}};
  for (int i = 0; i < 2; ++i) bench.coordinator.answer("GET /v1/sites/s1", waiting);
  bench.coordinator.answer("POST /v1/sites/s1/takeover", {{"site", "s1"}, {"former", nullptr}});
  const Status unsure = site_takeover(bench.session, "s1", false);
  REQUIRE_FALSE(unsure.ok());
  CHECK(unsure.error().field == "--yes");
  CHECK(has(unsure.error().message, "11:00"));
  REQUIRE(site_takeover(bench.session, "s1", true).ok());
  CHECK(has(bench.printed(), "site s1 is the newest agent's"));
}

TEST_CASE("ids are checked before anything is asked") {
  Bench bench;
  CHECK(site_takeover(bench.session, "S1", true).error().field == "SITE");
  CHECK(site_create(bench.session, "S1").error().field == "SITE");
  CHECK(site_show(bench.session, "a/b").error().field == "SITE");
  CHECK(pool_show(bench.session, "").error().field == "POOL");
  CHECK(bench.coordinator.asked().empty());
}

TEST_CASE("a pool is made from a policy file, and what the file lacks is said") {
  Bench bench;
  TempFolder folder;
  const std::string file = folder.file("policy.json");
  PoolCreateOptions options;
  options.pool = "gpu";
  options.site = "s1";
  options.policy_file = file;
  const Error missing = pool_create(bench.session, options).error();
  CHECK(missing.code == Code::kInvalidInput);
  CHECK(missing.field == "--policy");
  CHECK(has(missing.message, file));
  REQUIRE(write_file_atomic(file, "[1]", 0600).ok());
  CHECK(has(pool_create(bench.session, options).error().message, "a JSON object"));
  REQUIRE(write_file_atomic(file, "{\"tenantRoot\": true, \"tenantRoot\": false}", 0600).ok());
  CHECK(pool_create(bench.session, options).error().field == "--policy");
  CHECK(bench.coordinator.asked().empty());

  REQUIRE(write_file_atomic(file, "{\"tenantRoot\": true}", 0600).ok());
  bench.coordinator.answer("POST /v1/pools",
                           {{"pool", "gpu"}, {"revision", 1}, {"ignoredImages", {"bios"}}});
  REQUIRE(pool_create(bench.session, options).ok());
  CHECK(bench.printed() == "pool gpu created: policy revision 1\n");
  CHECK(has(bench.noted(), "not https with 64 hex digits: bios"));
  CHECK(bench.coordinator.asked().back() ==
        R"(POST /v1/pools {"agent":"ramdisk","allowUnvetted":false,"class":"metal-dedicated",)"
        R"("policy":{"tenantRoot":true},"pool":"gpu","siteId":"s1","tenantId":"root"})");
  bench.coordinator.answer("PUT /v1/pools/gpu/policy", {{"pool", "gpu"}, {"revision", 2}});
  REQUIRE(pool_set_policy(bench.session, "gpu", file, false).ok());
  CHECK(bench.coordinator.asked().back() ==
        R"(PUT /v1/pools/gpu/policy {"policy":{"tenantRoot":true}})");
}

TEST_CASE("evidence is exported byte for byte, and never over something else") {
  Bench bench;
  TempFolder folder;
  const std::string file = folder.file("evidence.json");
  const std::string bundle = "{\"a\":\"\xc2\x9b\"}\n";
  bench.coordinator.answer("GET /v1/runs/s1/r-1", {{"site", "s1"}, {"run", "r-1"}});
  bench.coordinator.answer_raw("GET /v1/evidence/s1/r-1", HttpResponse{200, {}, bundle});
  REQUIRE(evidence_export(bench.session, {"r-1", file, false}).ok());
  CHECK(read_file(file, 1000).value() == bundle);
  CHECK(has(bench.printed(), "leasehold evidence verify " + file));
  REQUIRE(evidence_export(bench.session, {"r-1", file, false}).ok());  // the same again
  REQUIRE(write_file_atomic(file, "mine", 0600).ok());
  const Error error = evidence_export(bench.session, {"r-1", file, false}).error();
  CHECK(error.code == Code::kConflict);
  CHECK(read_file(file, 1000).value() == "mine");
  REQUIRE(evidence_export(bench.session, {"r-1", file, true}).ok());
  CHECK(read_file(file, 1000).value() == bundle);
  bench.printed();
  REQUIRE(evidence_export(bench.session, {"r-1", "-", false}).ok());
  CHECK(bench.printed() == bundle);
}

TEST_CASE("status names failed machines with what to do") {
  Bench bench;
  bench.coordinator.answer(
      "GET /v1/status", {{"domain", "example.net"},
                         {"version", "0.1.0"},
                         {"time", "2026-11-29T12:00:00.000Z"},
                         {"sites", 1},
                         {"nodes", 2},
                         {"openRuns", 0},
                         {"alarms", {{{"code", "SUPERSEDED"}, {"message", "m"}, {"site", "s1"}}}}});
  bench.coordinator.answer(
      "GET /v1/nodes?state=failed&limit=20",
      {{"items",
        {node_row("n2", {{"state", "failed"},
                         {"failure", {{"code", "DIAG_FAILED"}, {"message", "GPU 3"}}}})}},
       {"next", ""}});
  REQUIRE(overview(bench.session).ok());
  const std::string text = bench.printed();
  INFO(text);
  CHECK(has(text, "SUPERSEDED  s1    m\n"));
  CHECK(has(text, "s1/n2  DIAG_FAILED: GPU 3\n       A GPU is missing"));
}

TEST_CASE("whoami warns of a certificate that ends soon") {
  Bench bench;
  bench.coordinator.answer("GET /v1/whoami", {{"identity", "spiffe://example.net/operator/ann"},
                                              {"kind", "operator"},
                                              {"name", "ann"},
                                              {"tenant", ""}});
  REQUIRE(whoami(bench.session).ok());
  CHECK(has(bench.printed(), "spiffe://example.net/operator/ann"));
  CHECK(has(bench.noted(), "your certificate ends soon"));
}

}  // namespace leasehold::test
