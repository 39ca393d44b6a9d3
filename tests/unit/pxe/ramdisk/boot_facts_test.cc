#include "pxe/ramdisk/boot_facts.h"

#include "core/base/bytes.h"
#include "pxe/ramdisk/hardware.h"
#include "pxe/ramdisk/init.h"
#include "tests/unit/pxe/ramdisk/support.h"

using namespace leasehold;
using leasehold::test::FakeMachine;

namespace {

Json document() {
  return {{"schema", 1},
          {"site", "s1"},
          {"domain", "example.net"},
          {"node", "n1"},
          {"run", "r-1"},
          {"boot", "b-1"},
          {"token", base64_encode(std::string(32, 'k'))},
          {"gateway", {{"host", "gateway.s1.example.net"}, {"address", "10.0.0.1"}, {"port", 1}}}};
}

BootFacts facts() {
  BootFacts facts;
  facts.site = "s1";
  facts.anchors.domain = "example.net";
  return facts;
}

}  // namespace

TEST_CASE("the run document's URL comes from the kernel's command line") {
  CHECK(run_url_of("quiet leasehold.run=http://h:1/run/b x=y\n").value() == "http://h:1/run/b");
  CHECK(run_url_of("leasehold.run=http://h/").value() == "http://h/");
  for (const char* bad : {"", "quiet", "xleasehold.run=http://h/", "leasehold.run=ftp://h/"}) {
    CHECK(run_url_of(bad).error().code == Code::kConfig);
  }
}

TEST_CASE("the image's folder says whose site this is") {
  FakeMachine machine;
  machine.file("proc/cmdline", "leasehold.run=http://127.0.0.1:1/run/b-1\n");
  CHECK(read_boot_facts(machine.root()).error().code == Code::kConfig);
  machine.file("etc/leasehold/image.json", R"({"domain":"example.net","site":"s1","image":"ab"})");
  CHECK_FALSE(read_boot_facts(machine.root()).ok());
  machine.file("etc/leasehold/root.pem", "PEM");
  Result<BootFacts> read = read_boot_facts(machine.root());
  REQUIRE(read.ok());
  CHECK(read.value().site == "s1");
  CHECK(read.value().anchors.domain == "example.net");
  CHECK(read.value().anchors.root_pem == "PEM");
}

TEST_CASE("a run document is read, or refused") {
  Result<RunDocument> read = parse_run_document(dump_json(document()), facts());
  REQUIRE(read.ok());
  CHECK(read.value().token == std::string(32, 'k'));
  CHECK(read.value().gateway_port == 1);
  for (const auto& [key, value] : std::vector<std::pair<std::string, Json>>{
           {"schema", 2},
           {"site", "s2"},
           {"domain", "example.org"},
           {"node", ""},
           {"run", "R"},
           {"token", "AAAA"},
           {"token", "?"},
           {"gateway", nullptr},
           {"gateway", {{"host", "a b"}, {"address", "x"}, {"port", 1}}},
           {"gateway", {{"host", "h"}, {"address", "x"}, {"port", 0}}}}) {
    Json bad = document();
    bad[key] = value;
    CHECK_FALSE(parse_run_document(dump_json(bad), facts()).ok());
  }
  CHECK(parse_run_document("", facts()).error().code == Code::kMalformed);
}

TEST_CASE("the network's configuration is checked") {
  FakeMachine machine;
  auto read = [&](const std::string& text) {
    machine.file("etc/leasehold/network.json", text);
    return read_network_config(machine.root());
  };
  Result<NetworkConfig> good =
      read(R"({"interface":"eth0","address":"10.0.2.15","prefix":24,"gateway":"10.0.2.2"})");
  REQUIRE(good.ok());
  CHECK(good.value().prefix == 24);
  for (const char* bad :
       {R"({"interface":"eth0","address":"10.0.2.15","prefix":0})",
        R"({"interface":"eth0","address":"10.0.2.15","prefix":33})",
        R"({"interface":"eth0","address":"ten","prefix":24})",
        R"({"interface":"an-interface-name-too-long","address":"1.2.3.4","prefix":8})",
        R"({"interface":"eth0","address":"1.2.3.4","prefix":8,"gatway":""})"}) {
    CHECK(read(bad).error().code == Code::kConfig);
  }
  CHECK(netmask(24) == 0x00ffffffu);  // as this machine holds network byte order
  CHECK(netmask(32) == 0xffffffffu);
  CHECK(netmask(1) == 0x00000080u);
}

TEST_CASE("modules are listed in their order") {
  FakeMachine machine;
  CHECK(module_paths(machine.root()).empty());
  machine.file("etc/leasehold/modules", "# first\n/lib/b.ko\n\n  /lib/a.ko  \n");
  CHECK(module_paths(machine.root()) == std::vector<std::string>{"/lib/b.ko", "/lib/a.ko"});
}

TEST_CASE("the inventory is what the machine shows") {
  FakeMachine machine;
  machine.disk("nvme0n1", "S1");
  machine.nvme(test::id_ctrl(2, 0, 0), "");
  machine.file("sys/class/net/lo/address", "00:00:00:00:00:00\n");
  machine.file("sys/class/net/eth0/address", "52:54:00:77:00:10\n");
  machine.file("sys/class/dmi/id/sys_vendor", "Maker\n");
  machine.file("sys/class/dmi/id/board_serial", "B-1\n");
  machine.file("sys/bus/pci/devices/0000:3b:00.0/vendor", "0x10de\n");
  machine.file("sys/bus/pci/devices/0000:3b:00.0/class", "0x030200\n");
  machine.tool("nvidia-smi", "exit 9");
  InventoryReport report = take_inventory(machine.root());
  REQUIRE(report.disks.size() == 1);
  CHECK(report.disks[0].hidden_areas == HiddenAreas::kNone);
  CHECK(report.macs == std::vector<std::string>{"52:54:00:77:00:10"});
  CHECK(report.system.manufacturer == "Maker");
  CHECK(report.system.serial == "");
  CHECK(report.system.board_serial == "B-1");
  REQUIRE(report.gpus.size() == 1);
  CHECK(report.gpus[0].pci == "0000:3b:00.0");
  CHECK(InventoryReport::from_json(report.to_json()).ok());
}
