#include "firmware/components.h"

#include <catch2/catch.hpp>

#include "firmware/check.h"

using namespace leasehold;

namespace {

FirmwareItem item(const std::string& id, const std::string& version) {
  FirmwareItem made;
  made.id = id;
  made.name = id + " image";
  made.version = version;
  return made;
}

ComponentRule by_id(const std::string& glob, VersionForm form = VersionForm::kExact) {
  ComponentRule rule;
  rule.ids = {glob};
  rule.form = form;
  return rule;
}

const ComponentRules kRules = {
    {"bmc", by_id("BMC*")}, {"bios", by_id("BIOS")}, {"gpu-vbios", by_id("HGX_FW_GPU_?")}};
const Versions kBaseline = {{"bmc", "1.12.0"}, {"bios", "2.4.1"}};

FirmwareInventory inventory() {
  return {{item("BMC", "1.12.0"), item("BIOS", "2.4.1"), item("PSU1", "7")}, true};
}

}  // namespace

TEST_CASE("what the rules name is found, the rest is listed") {
  FirmwareReading reading = read_components(inventory(), kRules);
  CHECK(reading.found == kBaseline);
  CHECK(reading.listed == Versions{{"PSU1", "7"}});
  CHECK(reading.unknown.size() == 1);
  CHECK(reading.unknown.count("gpu-vbios") == 1);
  CHECK(check_firmware(kBaseline, reading).status.ok());
}

TEST_CASE("N2: all entries of a component must agree") {
  FirmwareInventory eight = inventory();
  for (int i = 0; i < 8; ++i) {
    eight.items.push_back(item("HGX_FW_GPU_" + std::to_string(i), "96.00.5f"));
  }
  CHECK(read_components(eight, kRules).found.at("gpu-vbios") == "96.00.5f");
  eight.items.back().version = "96.00.5e";
  FirmwareReading odd = read_components(eight, kRules);
  CHECK(odd.found.count("gpu-vbios") == 0);
  CHECK(odd.unknown.at("gpu-vbios") ==
        "\"HGX_FW_GPU_0\" reports 96.00.5f, \"HGX_FW_GPU_7\" reports 96.00.5e");
}

TEST_CASE("F2: no version, blanks, and an entry that is not enabled are unknown") {
  FirmwareInventory bad = inventory();
  SECTION("empty") { bad.items[0].version = ""; }
  SECTION("blanks") { bad.items[0].version = "  "; }
  SECTION("disabled") { bad.items[0].enabled = false; }
  SECTION("absent") { bad.items.erase(bad.items.begin()); }
  SECTION("one of two") { bad.items.push_back(item("BMC-backup", "")); }
  FirmwareReading reading = read_components(bad, kRules);
  CHECK(reading.found == Versions{{"bios", "2.4.1"}});
  Status status = check_firmware(kBaseline, reading).status;
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == Code::kFirmwareUnknown);
}

TEST_CASE("R3: of an incomplete inventory nothing is found") {
  FirmwareInventory partial = inventory();
  partial.complete = false;
  FirmwareReading reading = read_components(partial, kRules);
  CHECK(reading.found.empty());
  CHECK(check_firmware(kBaseline, reading).status.error().code == Code::kFirmwareUnknown);
}

TEST_CASE("F4: versions are compared as they stand, unless the rule says how") {
  auto form = [](VersionForm how, const std::string& reported) {
    return version_in_form(by_id("x", how), reported);
  };
  CHECK(form(VersionForm::kExact, " 01.12.00 ") == " 01.12.00 ");
  CHECK(form(VersionForm::kTrim, " 01.12.00\n") == "01.12.00");
  CHECK(form(VersionForm::kDotted, " 01.12.00") == "1.12.0");
  CHECK(form(VersionForm::kDotted, "96.00.5f.000") == "96.0.5f.0");
  CHECK(form(VersionForm::kDotted, "1..02.") == "1..2.");
  for (VersionForm how : {VersionForm::kExact, VersionForm::kTrim, VersionForm::kDotted}) {
    CHECK(form(how, " \t").empty());
  }
  ComponentRule prefix = by_id("x", VersionForm::kStripPrefix);
  prefix.prefix = "BF-";
  CHECK(version_in_form(prefix, "BF-24.10-1") == "24.10-1");
  CHECK(version_in_form(prefix, "24.10-1") == "24.10-1");
  CHECK(version_in_form(prefix, "BF-").empty());
}

TEST_CASE("F4: another way of writing the version is drift, not equal") {
  FirmwareInventory other = inventory();
  other.items[0].version = "01.12.00";
  CHECK(check_firmware(kBaseline, read_components(other, kRules)).status.error().code ==
        Code::kFirmwareDrift);
  ComponentRules rules = kRules;
  rules["bmc"].form = VersionForm::kDotted;
  CHECK(check_firmware(kBaseline, read_components(other, rules)).status.ok());
}

TEST_CASE("an entry is found by its name too") {
  ComponentRule rule;
  rule.names = {"BMC*image"};
  CHECK(read_components(inventory(), {{"bmc", rule}}).found.at("bmc") == "1.12.0");
}

TEST_CASE("FIRMWARE_DRIFT lists each drifted component, and what is unknown besides") {
  Versions baseline = {{"bmc", "1.13.0"}, {"bios", "2.5.0"}, {"nic", "1"}};
  FirmwareVerdict verdict = check_firmware(baseline, read_components(inventory(), kRules));
  REQUIRE_FALSE(verdict.status.ok());
  CHECK(verdict.status.error().code == Code::kFirmwareDrift);
  CHECK(verdict.status.error().message ==
        "bios is 2.4.1, not 2.5.0; bmc is 1.12.0, not 1.13.0; "
        "nic is unknown: the hardware profile has no rule for it");
  CHECK(verdict.comparison.components.size() == 3);
}

TEST_CASE("INVALID_CONFIG: a pool without a baseline") {
  Status status = check_firmware({}, read_components(inventory(), kRules)).status;
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == Code::kInvalidConfig);
}

TEST_CASE("found but not in the baseline is listed and does not fail") {
  FirmwareVerdict verdict =
      check_firmware({{"bmc", "1.12.0"}}, read_components(inventory(), kRules));
  CHECK(verdict.status.ok());
  CHECK(verdict.comparison.listed == Versions{{"bios", "2.4.1"}});
}
