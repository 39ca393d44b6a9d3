#include "pxe/ramdisk/block_devices.h"

#include "tests/unit/pxe/ramdisk/support.h"

using namespace leasehold;
using leasehold::test::FakeMachine;

namespace {

std::vector<std::string> names(const std::vector<BlockDevice>& devices) {
  std::vector<std::string> out;
  for (const BlockDevice& device : devices) out.push_back(device.name);
  return out;
}

}  // namespace

TEST_CASE("only whole disks are listed") {
  FakeMachine machine;
  for (const char* name :
       {"loop0", "ram0", "zram0", "dm-0", "md0", "sr0", "fd0", "nvme0n1p1", "nvme0c0n1",
        "mmcblk0boot0", "nbd0", "mmcblk0", "nvme0n1", "sda", "vda"}) {
    machine.disk(name, std::string("S-") + name, 4096);
  }
  CHECK(names(list_block_devices(machine.root())) ==
        std::vector<std::string>{"mmcblk0", "nvme0n1", "sda", "vda"});
}

TEST_CASE("a disk's words are trimmed and made printable") {
  FakeMachine machine;
  machine.disk("nvme0n1", "SER\xff\x01IAL", 8192);
  BlockDevice device = list_block_devices(machine.root()).at(0);
  CHECK(device.serial == "SER??IAL");
  CHECK(device.model == "Model X");
  CHECK(device.capacity_bytes == 8192);
  CHECK(device.transport == "nvme");
  CHECK(device.path == machine.device("nvme0n1"));
}

TEST_CASE("a SCSI disk's serial comes from its product data page") {
  FakeMachine machine;
  machine.file("sys/block/sda/size", "8");
  machine.file("sys/block/sda/device/vpd_pg80", std::string("\0\x80\0\x08 ABC123 ", 12));
  machine.file("sys/block/sda/device/vendor", "ATA     ");
  machine.file("sys/block/sda/device/wwid", "naa.5000c500");
  BlockDevice device = list_block_devices(machine.root()).at(0);
  CHECK(device.serial == "ABC123");
  CHECK(device.wwn == "naa.5000c500");
  CHECK(device.transport == "sata");
}

TEST_CASE("DK20: a second path to a disk is the same disk") {
  FakeMachine machine;
  machine.disk("sda", "S1", 4096);
  machine.disk("sdb", "S1", 4096);
  CHECK(names(list_block_devices(machine.root())) == std::vector<std::string>{"sda"});
}

TEST_CASE("two disks that claim one serial are two disks") {
  FakeMachine machine;
  machine.disk("sda", "S1", 4096);
  machine.disk("sdb", "S1", 4096);
  machine.file("sys/block/sdb/wwid", "eui.other");
  CHECK(names(list_block_devices(machine.root())) == std::vector<std::string>{"sda", "sdb"});
}

TEST_CASE("DK7: namespaces of one controller are one disk, and counted") {
  FakeMachine machine;
  machine.disk("nvme0n1", "S1", 4096);
  machine.disk("nvme0n2", "S1", 4096);
  machine.file("sys/block/nvme0n2/wwid", "eui.second");
  machine.disk("nvme1n1", "S2", 4096);
  std::vector<BlockDevice> devices = list_block_devices(machine.root());
  REQUIRE(names(devices) == std::vector<std::string>{"nvme0n1", "nvme1n1"});
  CHECK(devices[0].other_namespaces == std::vector<std::string>{"nvme0n2"});
}

TEST_CASE("hidden paths, empty readers and nonsense sizes are no disks") {
  FakeMachine machine;
  machine.disk("nvme0n1", "S1", 4096);
  machine.file("sys/block/nvme0n1/hidden", "1");
  for (const char* size : {"0", "-1", "8x", "99999999999999999999999", "18014398509481985"}) {
    machine.disk("sda", "S2", 4096);
    machine.file("sys/block/sda/size", size);
    CHECK(list_block_devices(machine.root()).empty());
  }
}

TEST_CASE("a disk without a serial can be reported") {
  FakeMachine machine;
  machine.disk("nvme0n1", "", 4096);
  BlockDevice device = list_block_devices(machine.root()).at(0);
  ManifestEntry entry = manifest_entry(device, HiddenAreas::kNone);
  CHECK(entry.serial == "no-serial:nvme0n1");
  CHECK(ManifestEntry::from_json(entry.to_json()).ok());
}
