// An adoption adds a machine that somebody has had. Two nodes behind one BMC, one NIC or one
// machine would be two tenants of one power button: each is refused by the field that says so.
#include <catch2/catch.hpp>

#include "agent/intake.h"
#include "tests/unit/agent/door_site.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

class Adopting : public DoorSite {
 public:
  Adopting() : engine(engine_options()), intake(engine, world.tools()) {
    REQUIRE(adopt(adoption("n2", 2)).ok());
  }
  Json adoption(const std::string& node, int number) const {
    std::string digit = std::to_string(number);
    return Json{{"node", node},
                {"pool", "h100"},
                {"generation", 7},
                {"hardwareKey", "hw-" + digit},
                {"lease", {{"lease", "l-" + node}, {"tenant", "acme"}}},
                {"bmc",
                 {{"url", "https://bmc-" + digit},
                  {"user", "admin"},
                  {"tlsPin", std::string(64, 'b')},
                  {"password", "a-password"}}},
                {"bootMac", "52:54:00:77:00:2" + digit},
                {"disks", make_manifest().to_json()},
                {"gpus", Json::array()}};
  }
  Status adopt(const Json& adoption) {
    return in([&](Sql& sql) -> Status {
      TRY(intake.adopt(sql, adoption));
      return {};
    });
  }

  Engine engine;
  Intake intake;
};

}  // namespace

TEST_CASE("an adopted node is its tenant's, with its lease and one confirmed credential") {
  Adopting site;
  Json node = site.row("node", "n2");
  CHECK(node["state"] == "deployed");
  CHECK(node["trust"] == "tenant-controlled");
  CHECK(node["tenantRoot"] == true);
  CHECK(node["generation"] == 7);
  CHECK(site.row("lease", "l-n2")["tenant"] == "acme");
  CHECK(site.row("vault", "n2-redfish-1")["state"] == "confirmed");
  CHECK(dump_json(site.row("vault", "n2-redfish-1")).find("a-password") == std::string::npos);
}

TEST_CASE("law no-double-booking: what another node has is not adopted again") {
  struct Case {
    const char* field;
    void (*take)(Json& adoption, const Json& others);
  };
  const std::vector<Case> cases = {
      {"node", [](Json& a, const Json& b) { a["node"] = b["node"]; }},
      {"lease", [](Json& a, const Json& b) { a["lease"]["lease"] = b["lease"]["lease"]; }},
      {"bmc.url", [](Json& a, const Json& b) { a["bmc"]["url"] = b["bmc"]["url"]; }},
      {"bootMac", [](Json& a, const Json& b) { a["bootMac"] = b["bootMac"]; }},
      {"hardwareKey", [](Json& a, const Json& b) { a["hardwareKey"] = b["hardwareKey"]; }},
  };
  Adopting site;
  for (const Case& one : cases) {
    Json wanted = site.adoption("n3", 3);
    one.take(wanted, site.adoption("n2", 2));
    Status adopted = site.adopt(wanted);
    INFO(one.field);
    REQUIRE_FALSE(adopted.ok());
    CHECK(adopted.error().code == Code::kConflict);
    CHECK(adopted.error().field == one.field);
    CHECK(site.row("node", "n3").is_null());
  }
  // Two machines that say nothing of their hardware are not one.
  for (int number : {3, 4}) {
    Json unknown = site.adoption("n" + std::to_string(number), number);
    unknown.erase("hardwareKey");
    CHECK(site.adopt(unknown).ok());
  }
}
