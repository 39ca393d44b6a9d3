#include "drivers/redfish/firmware_inventory.h"

#include <catch2/catch.hpp>

#include "tests/unit/drivers/redfish/fake_bmc.h"

using namespace leasehold;

TEST_CASE("the inventory is every member, with its raw version") {
  FakeBmc bmc;
  bmc.resources[kInventory + "/BMC"]["Version"] = " 1.12.0 ";
  auto inventory = bmc.open()->firmware_inventory().value();
  CHECK(inventory.complete);
  REQUIRE(inventory.items.size() == 2);
  CHECK(inventory.items[0].id == "BMC");
  CHECK(inventory.items[0].name == "BMC firmware");
  CHECK(inventory.items[0].version == " 1.12.0 ");
  CHECK(inventory.items[0].enabled);
}

TEST_CASE("P12: pages of the inventory are followed") {
  FakeBmc bmc;
  std::string second = kInventory + "?$skip=1";
  bmc.resources[kInventory]["Members"].erase(1);
  bmc.resources[kInventory]["Members@odata.nextLink"] = second;
  bmc.resources[second] = {{"Members", Json::array({{{"@odata.id", kInventory + "/BIOS"}}})}};
  auto inventory = bmc.open()->firmware_inventory().value();
  CHECK(inventory.complete);
  CHECK(inventory.items.size() == 2);
}

TEST_CASE("R3: announced and not listed, or listed and not there, is incomplete") {
  FakeBmc bmc;
  SECTION("count") { bmc.resources[kInventory]["Members@odata.count"] = 3; }
  SECTION("member") { bmc.resources.erase(kInventory + "/BIOS"); }
  SECTION("no members") { bmc.resources[kInventory] = Json::object(); }
  CHECK_FALSE(bmc.open()->firmware_inventory().value().complete);
}

TEST_CASE("P3: an error beside the members, or in a member, is incomplete") {
  FakeBmc bmc;
  Json error = {{"code", "Base.1.8.InternalError"}};
  SECTION("collection") { bmc.resources[kInventory]["error"] = error; }
  SECTION("member") { bmc.resources[kInventory + "/BMC"]["error"] = error; }
  CHECK_FALSE(bmc.open()->firmware_inventory().value().complete);
}

TEST_CASE("P7, P8, F2: what a BMC leaves out or mistypes is unknown, not guessed") {
  auto version = [](Json value) {
    return redfish::parse_firmware_item({{"Version", value}}, "/x/BIOS").version;
  };
  CHECK(version("2.4.1") == "2.4.1");
  CHECK(version(12) == "12");
  CHECK(version(1.10).empty());
  CHECK(version(nullptr).empty());
  CHECK(version(Json::array({"1"})).empty());
  FirmwareItem item = redfish::parse_firmware_item(Json::object(), "/x/BIOS");
  CHECK(item.id == "BIOS");
  CHECK(item.enabled);
  item = redfish::parse_firmware_item({{"Status", {{"State", "Disabled"}}}}, "/x/BIOS");
  CHECK_FALSE(item.enabled);
}

TEST_CASE("a BMC without an UpdateService, and one whose inventory cannot be read") {
  FakeBmc bmc;
  bmc.next("GET " + kInventory, 403, error_body("Base.1.8.InsufficientPrivilege"));
  CHECK(bmc.open()->firmware_inventory().error().code == Code::kRefused);
  bmc.resources.erase("/redfish/v1/UpdateService");
  CHECK(bmc.open()->firmware_inventory().error().code == Code::kUnsupported);
}

TEST_CASE("P6: an answer that holds a password of ours is no answer") {
  FakeBmc bmc;
  auto driver = bmc.open();
  REQUIRE(driver->power_state().ok());
  bmc.resources[kInventory + "/BIOS"]["Version"] = "2 old-Secret.1";
  FirmwareInventory inventory = driver->firmware_inventory().value();
  CHECK_FALSE(inventory.complete);
  for (const FirmwareItem& item : inventory.items) {
    CHECK(item.version.find("old-Secret.1") == std::string::npos);
  }
  bmc.resources[kSystem]["SerialNumber"] = "old-Secret.1";
  auto facts = driver->system_facts();
  REQUIRE_FALSE(facts.ok());
  CHECK(facts.error().code == Code::kMalformed);
  CHECK(facts.error().message.find("old-Secret.1") == std::string::npos);
}

TEST_CASE("P6: a path that the BMC gives is its words too, in every kind of error") {
  const std::string path = "/redfish/v1/Systems/old-Secret.1";
  std::vector<FakeBmc::Answer> answers = {
      [](const HttpRequest&) -> Result<HttpResponse> {
        return HttpResponse{404, {}, ""};
      },
      [](const HttpRequest&) -> Result<HttpResponse> {
        return HttpResponse{200, {}, "<html>"};
      },
      [](const HttpRequest&) -> Result<HttpResponse> { return Error(Code::kTimeout, "lost"); }};
  for (const FakeBmc::Answer& answer : answers) {
    FakeBmc bmc;
    redfish::Transport transport(bmc, bmc.clock, "https://bmc.test", TlsClientPolicy{});
    transport.keep_secret("old-Secret.1");
    redfish::Call call;
    call.path = path;
    bmc.next("GET " + path, answer);
    auto reply = transport.send_once(call);
    Error error = reply.ok() ? transport.error(call, reply.value()) : reply.error();
    CAPTURE(error.message);
    CHECK(error.message.find("[secret]") != std::string::npos);
    CHECK(error.message.find("old-Secret.1") == std::string::npos);
  }
}
