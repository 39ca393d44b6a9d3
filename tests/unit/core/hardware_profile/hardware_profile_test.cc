#include "core/hardware_profile/hardware_profile.h"

#include <catch2/catch.hpp>

using namespace leasehold;

namespace {

Json row() {
  return parse_json(R"({"table":"hardware_profile","schema":1,"profile":"gpu-redfish","revision":3,
    "driver":"redfish",
    "components":{"bmc":{"ids":["BMC*"],"normalise":"exact"},
                  "nic":{"names":["*Connect*"],"normalise":"strip-prefix","prefix":"BF-"}},
    "machine":{"manufacturers":["Acme*"],"products":["X1"],"disks":8,"gpus":0},
    "bmc":{"accounts":["noc"]},
    "boot":{"target":"UefiHttp"},
    "timeouts":{"power_off_s":60,"power_on_s":90,"call_home_s":600},
    "vetted":{"by":"lab","why":"two teardowns watched"}})")
      .value();
}

std::string refused_field(const Json& json) {
  auto parsed = HardwareProfile::parse(json);
  if (parsed.ok()) return "accepted";
  CHECK(parsed.error().code == Code::kInvalidInput);
  return parsed.error().field;
}

}  // namespace

TEST_CASE("a whole profile") {
  HardwareProfile profile = HardwareProfile::parse(row()).value();
  CHECK(profile.name == "gpu-redfish");
  CHECK(profile.revision == 3);
  CHECK(profile.components.at("bmc").ids == std::vector<std::string>{"BMC*"});
  CHECK(profile.components.at("nic").form == VersionForm::kStripPrefix);
  CHECK(profile.components.at("nic").prefix == "BF-");
  CHECK(profile.machine.manufacturers == std::vector<std::string>{"Acme*"});
  CHECK(profile.machine.products == std::vector<std::string>{"X1"});
  CHECK(profile.machine.disks == 8);
  CHECK(profile.machine.gpus == 0);
  CHECK(profile.bmc_accounts == std::vector<std::string>{"noc"});
  CHECK(profile.boot_target == ProfileBootTarget::kUefiHttp);
  CHECK(profile.power_off_s == 60);
  CHECK(profile.power_on_s == 90);
  CHECK(profile.call_home_s == 600);
  REQUIRE(profile.vetted.has_value());
  CHECK(profile.vetted->by == "lab");
}

TEST_CASE("the least profile has defaults and is not vetted") {
  Json least = {{"table", "hardware_profile"}, {"schema", 1}, {"profile", "x"}, {"revision", 1}};
  HardwareProfile profile = HardwareProfile::parse(least).value();
  CHECK(profile.driver == "redfish");
  CHECK(profile.boot_target == ProfileBootTarget::kPxe);
  CHECK(profile.power_off_s == 300);
  CHECK(profile.machine.disks == 0);
  CHECK_FALSE(profile.machine.gpus.has_value());
  CHECK_FALSE(profile.vetted.has_value());
}

TEST_CASE("each wrong member is refused by its dotted name") {
  auto with = [](const char* pointer, Json value) {
    Json changed = row();
    changed[Json::json_pointer(pointer)] = value;
    return refused_field(changed);
  };
  CHECK(with("/bmc/accounts", {1}) == "bmc.accounts");
  CHECK(with("/bmc/accounts", {""}) == "bmc.accounts");
  CHECK(with("/bmc/acounts", {"noc"}) == "bmc.acounts");
  CHECK(with("/drivr", "x") == "drivr");
  CHECK(with("/table", "pool_policy") != "accepted");
  CHECK(with("/schema", 2) == "schema");
  CHECK(with("/revision", 0) == "revision");
  CHECK(with("/driver", "ipmi") == "driver");
  CHECK(with("/components", "x") == "components");
  CHECK(with("/components/BMC", Json::object()) == "components.BMC");
  CHECK(with("/components/bmc/id", "x") == "components.bmc.id");
  CHECK(with("/components/bmc/ids", Json::array()) == "components.bmc.ids");
  CHECK(with("/components/bmc/ids", Json::array({""})) == "components.bmc.ids");
  CHECK(with("/components/bmc/normalise", "loose") == "components.bmc.normalise");
  CHECK(with("/components/bmc/prefix", "x") == "components.bmc.prefix");
  CHECK(with("/components/nic/prefix", "") == "components.nic.prefix");
  CHECK(with("/boot/target", "Hdd") == "boot.target");
  CHECK(with("/machine/disk", 1) == "machine.disk");
  CHECK(with("/machine/disks", -1) == "machine.disks");
  CHECK(with("/machine/gpus", "8") == "machine.gpus");
  CHECK(with("/timeouts/power_off_s", 0) == "timeouts.power_off_s");
  CHECK(with("/timeouts/call_home_s", 86401) == "timeouts.call_home_s");
  CHECK(with("/vetted/by", "") == "vetted.by");
  CHECK(with("/vetted/why", nullptr) == "vetted.why");
  CHECK(with("/vetted/when", "x") == "vetted.when");
}

TEST_CASE("globs match whole texts") {
  CHECK(glob_matches("BMC*", "BMC"));
  CHECK(glob_matches("BMC*", "BMC_0"));
  CHECK_FALSE(glob_matches("BMC*", "HostBMC_0"));
  CHECK(glob_matches("*BMC*", "HostBMC_0"));
  CHECK(glob_matches("HGX_FW_GPU_?", "HGX_FW_GPU_7"));
  CHECK_FALSE(glob_matches("HGX_FW_GPU_?", "HGX_FW_GPU_10"));
  CHECK_FALSE(glob_matches("BIOS", "bios"));
  CHECK(glob_matches("*", ""));
  CHECK_FALSE(glob_matches("", "x"));
  CHECK(glob_matches("a*b*c", "a-b-b-c"));
  CHECK_FALSE(glob_matches("a*b*c", "a-b-b-cd"));
  CHECK_FALSE(glob_matches("*a*a*a*a*a*a*a*a*b", std::string(200, 'a')));
}
