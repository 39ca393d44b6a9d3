// What the BMC says of its host before it is enrolled, as real BMCs say it (quirks P7, P10, P13).
#include "drivers/redfish/system_facts.h"

#include <catch2/catch.hpp>

#include "tests/unit/drivers/redfish/fake_bmc.h"

using namespace leasehold;

namespace {

const std::string kPorts = "/redfish/v1/Systems/1/EthernetInterfaces";

Json port(const std::string& mac, const std::string& link) {
  return {{"PermanentMACAddress", mac}, {"LinkStatus", link}};
}

// A BMC whose host has these ports.
void set_ports(FakeBmc& bmc, const std::vector<Json>& ports) {
  bmc.resources[kSystem]["EthernetInterfaces"] = {{"@odata.id", kPorts}};
  Json members = Json::array();
  for (size_t i = 0; i < ports.size(); ++i) {
    std::string path = kPorts + "/" + std::to_string(i + 1);
    members.push_back({{"@odata.id", path}});
    bmc.resources[path] = ports[i];
  }
  bmc.resources[kPorts] = {{"Members", members}, {"Members@odata.count", ports.size()}};
}

}  // namespace

TEST_CASE("a MAC has one form; no address and no group's address is one of a host") {
  using redfish::normal_mac;
  CHECK(normal_mac("52-54-00-AB-00-1F") == "52:54:00:ab:00:1f");
  CHECK(normal_mac("52:54:00:ab:00:1f") == "52:54:00:ab:00:1f");
  for (const char* none : {"", "not available", "00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff",
                           "01:00:5e:00:00:01", "52:54:00:ab:00:1", "52.54.00.ab.00.1f"}) {
    CHECK(normal_mac(none) == "");
  }
}

TEST_CASE("P10, P13: the host's ports and serials, trimmed and in one form") {
  FakeBmc bmc;
  bmc.resources[kSystem]["SerialNumber"] = " SN-1  ";
  bmc.resources[kSystem]["UUID"] = "4c4c4544-0000-1000-8000-000000000001";
  Json disabled = port("52:54:00:00:00:03", "LinkUp");
  disabled["InterfaceEnabled"] = false;
  set_ports(bmc, {port("52:54:00:00:00:0A", "LinkUp"),
                  port("not available", "LinkUp"),
                  {{"MacAddress", "52-54-00-00-00-02"}, {"LinkStatus", nullptr}},
                  disabled});
  SystemFacts facts = bmc.open()->system_facts().value();
  CHECK(facts.serial == "SN-1");
  CHECK(facts.uuid == "4c4c4544-0000-1000-8000-000000000001");
  CHECK(facts.manufacturer == "");
  REQUIRE(facts.ports.size() == 2);
  CHECK(facts.ports[0].mac == "52:54:00:00:00:0a");
  CHECK(facts.ports[0].link_up);
  CHECK(facts.ports[1].mac == "52:54:00:00:00:02");
  CHECK_FALSE(facts.ports[1].link_up);
}

TEST_CASE("a list of ports that is not whole is no list; a BMC without one has no ports") {
  FakeBmc bmc;
  CHECK(bmc.open()->system_facts().value().ports.empty());
  set_ports(bmc, {port("52:54:00:00:00:0a", "LinkUp")});
  bmc.resources[kPorts]["Members@odata.count"] = 2;
  CHECK(bmc.open()->system_facts().error().code == Code::kUnavailable);
}

TEST_CASE("A1: behind the gate of a password that must be changed nothing is seen") {
  FakeBmc bmc;
  bmc.next("GET /redfish/v1/Systems", 403,
           error_body("Base.1.18.1.PasswordChangeRequired", kAccount));
  CHECK(bmc.open()->system_facts().error().code == Code::kRefused);
}

TEST_CASE("a greeting sends no credential and names what answers") {
  FakeBmc bmc;
  bmc.resources["/redfish/v1/"]["RedfishVersion"] = "1.17.0";
  bmc.resources["/redfish/v1/"]["Vendor"] = "Acme";
  RedfishBmcFactory factory(bmc, bmc.clock);
  BmcGreeting greeting = factory.greet({"https://bmc.test", "ab"}).value();
  CHECK(greeting.redfish_version == "1.17.0");
  CHECK(greeting.vendor == "Acme");
  CHECK(greeting.tls_pin == "ab");
  CHECK(bmc.forms() == std::vector<std::string>{"GET /redfish/v1/"});
  CHECK(header_value(bmc.requests[0].headers, "Authorization") == "");
  CHECK(header_value(bmc.requests[0].headers, "X-Auth-Token") == "");
}
