#include <catch2/catch.hpp>

#include "coordinator/store/site_rows.h"
#include "tests/support/coordinator_rig.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

Json vetted_profile() {
  return {{"profile", "generic"}, {"vetted", {{"by", "ann"}, {"why", "looked at one"}}}};
}

Json pool(const std::string& id, const Json& policy) {
  return {{"pool", id}, {"siteId", "s1"}, {"policy", policy}};
}

Json root_policy() {
  return {{"hardwareProfile", "generic"},
          {"tenantRoot", true},
          {"firmwareBaseline", {{"bios", "2.4.1"}}}};
}

Json row_of_site(CoordinatorRig& rig, const std::string& table, const std::string& key) {
  Json found;
  REQUIRE(rig.read([&](Sql& sql) -> Status {
               found = TRY(store::site_row(sql, "s1", table, key));
               return {};
             })
              .ok());
  return found;
}

CoordinatorRig& with_site(CoordinatorRig& rig) {
  REQUIRE(rig.post("/v1/sites", {{"site", "s1"}}).status == 200);
  return rig;
}

}  // namespace

TEST_CASE("a profile's revision rises with its content only") {
  CoordinatorRig rig;
  Answer first = rig.post("/v1/hardware-profiles", vetted_profile());
  REQUIRE(first.status == 200);
  CHECK(first.body["revision"] == 1);
  CHECK(rig.post("/v1/hardware-profiles", vetted_profile()).body["revision"] == 1);
  Json other = vetted_profile();
  other["timeouts"] = {{"power_off_s", 60}};
  CHECK(rig.post("/v1/hardware-profiles", other).body["revision"] == 2);
  CHECK(rig.get("/v1/hardware-profiles/generic").body["revision"] == 2);
  CHECK(rig.get("/v1/hardware-profiles").body["items"].size() == 1);
  other["timeout"] = 1;
  CHECK(rig.post("/v1/hardware-profiles", other).field() == "timeout");
  CHECK(rig.get("/v1/hardware-profiles/other").status == 404);
}

TEST_CASE("a pool's policy and its profile go to the pool's site, with each revision") {
  CoordinatorRig rig;
  with_site(rig);
  rig.post("/v1/hardware-profiles", vetted_profile());
  Json policy = root_policy();
  policy["firmwareImages"] = {{"bios", {{"url", "http://x"}, {"sha256", "1"}}}};
  Answer made = rig.post("/v1/pools", pool("gold", policy));
  REQUIRE(made.status == 200);
  CHECK(made.body["revision"] == 1);
  CHECK(made.body["ignoredImages"] == Json::array({"bios"}));
  CHECK(row_of_site(rig, "pool_policy", "gold")["revision"] == 1);
  CHECK(row_of_site(rig, "hardware_profile", "generic")["revision"] == 1);

  Json next = root_policy();
  next["firmwareBaseline"]["bios"] = "2.5.0";
  Answer put = rig.call("PUT", "/v1/pools/gold/policy", {{"policy", next}}, &rig.admin);
  REQUIRE(put.status == 200);
  CHECK(put.body["revision"] == 2);
  CHECK(row_of_site(rig, "pool_policy", "gold")["policy"] == next);
  Json profile = vetted_profile();
  profile["timeouts"] = {{"power_off_s", 60}};
  rig.post("/v1/hardware-profiles", profile);
  CHECK(row_of_site(rig, "hardware_profile", "generic")["revision"] == 2);
}

TEST_CASE("a pool is refused with the field that is wrong") {
  CoordinatorRig rig;
  with_site(rig);
  rig.post("/v1/hardware-profiles", vetted_profile());
  auto field = [&](const std::function<void(Json&)>& change) {
    Json body = pool("gold", root_policy());
    change(body);
    Answer answer = rig.post("/v1/pools", body);
    CHECK(answer.status == 400);
    return answer.field();
  };
  CHECK(field([](Json& b) { b["pool"] = "Gold"; }) == "pool");
  CHECK(field([](Json& b) { b["siteId"] = "s9"; }) == "siteId");
  CHECK(field([](Json& b) { b["class"] = "virtual"; }) == "class");
  CHECK(field([](Json& b) { b["tenantId"] = "acme"; }) == "tenantId");
  CHECK(field([](Json& b) { b["agent"] = "some"; }) == "agent");
  CHECK(field([](Json& b) { b["policies"] = 1; }) == "policies");
  CHECK(field([](Json& b) { b["policy"]["firmwareRemediation"] = "hope"; }) ==
        "policy.firmwareRemediation");
  CHECK(field([](Json& b) { b["policy"]["hardwareProfile"] = "other"; }) ==
        "policy.hardwareProfile");
  CHECK(field([](Json& b) { b["policy"]["allowUnverifiedRelease"] = true; }) ==
        "policy.allowUnverifiedRelease");
  CHECK(rig.get("/v1/pools").body["items"].empty());
  REQUIRE(rig.post("/v1/pools", pool("gold", root_policy())).status == 200);
  CHECK(rig.post("/v1/pools", pool("gold", root_policy())).code() == "CONFLICT");
  CHECK(rig.call("PUT", "/v1/pools/tin/policy", {{"policy", root_policy()}}, &rig.admin).status ==
        404);
}

TEST_CASE("D3: unvetted hardware is leased with root only if an operator took that on, on record") {
  CoordinatorRig rig;
  with_site(rig);
  rig.post("/v1/hardware-profiles", {{"profile", "generic"}});
  Answer refused = rig.post("/v1/pools", pool("gold", root_policy()));
  CHECK(refused.code() == "FORBIDDEN");
  CHECK(refused.field() == "policy.tenantRoot");
  Json plain = root_policy();
  plain["tenantRoot"] = false;
  CHECK(rig.post("/v1/pools", pool("tin", plain)).status == 200);
  CHECK(rig.call("PUT", "/v1/pools/tin/policy", {{"policy", root_policy()}}, &rig.admin).code() ==
        "FORBIDDEN");
  Json taken_on = pool("gold", root_policy());
  taken_on["allowUnvetted"] = true;
  REQUIRE(rig.post("/v1/pools", taken_on).status == 200);
  Json audit = rig.get("/v1/audit?limit=1000").body["items"].back();
  CHECK(json_text(audit, "detail").find("allowUnvetted") == 0);
}

TEST_CASE("D3: a profile that pools lease with root stays vetted") {
  CoordinatorRig rig;
  with_site(rig);
  rig.post("/v1/hardware-profiles", vetted_profile());
  rig.post("/v1/pools", pool("gold", root_policy()));
  Answer refused = rig.post("/v1/hardware-profiles", {{"profile", "generic"}});
  CHECK(refused.code() == "CONFLICT");
  CHECK(rig.get("/v1/hardware-profiles/generic").body["revision"] == 1);
}
