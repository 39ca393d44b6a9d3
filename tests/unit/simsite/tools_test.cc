#include <catch2/catch.hpp>

#include "core/base/files.h"
#include "simsite/boot_script.h"
#include "simsite/effects.h"
#include "simsite/tools/tool.h"
#include "tests/support/temp_folder.h"

namespace leasehold::simsite {
namespace {

ToolHardware hardware() {
  DiskConfig disk;
  disk.serial = "SN001A";
  disk.model = "Example NVMe 16M";
  disk.size_mib = 16;
  return {{{disk, "nvme0n1", "/nowhere"}},
          {{"1650", "GPU-1", "00000000:17:00.0", "96.00.5F"},
           {"1651", "GPU-2", "00000000:65:00.0", "96.00.5F"}}};
}

ToolCall tool(std::vector<std::string> argv, const Json& lie = nullptr) {
  static const ToolHardware kHardware = hardware();
  return run_tool(kHardware, argv, lie);
}

TEST_CASE("nvme identifies the disk in the recorded shape") {
  ToolCall call = tool({"nvme", "id-ctrl", "/tmp/root/dev/nvme0n1", "-o", "json"});
  CHECK(call.result.exit == 0);
  Json id = parse_json(call.result.out).value();
  CHECK(id["sn"] == "SN001A              ");
  CHECK(id["mn"].get<std::string>().size() == 40);
  CHECK(id["oacs"] == 0x10a);
  CHECK(id["fna"] == 0);
  CHECK(id["sanicap"] == 0);
  CHECK(call.erases == nullptr);
  Json ns = parse_json(tool({"nvme", "id-ns", "/dev/nvme0n1", "-o", "json"}).result.out).value();
  CHECK(ns["nsze"] == 32768);
  Json list = parse_json(tool({"nvme", "list", "-o", "json"}).result.out).value();
  CHECK(list["Devices"][0]["PhysicalSize"] == 16 << 20);
  Json all =
      parse_json(tool({"nvme", "list-ns", "/dev/nvme0", "--all", "-o", "json"}).result.out).value();
  CHECK(all["nsid_list"].size() == 1);
}

TEST_CASE("nvme format erases with SES 1 and 2 only") {
  auto format = [](std::vector<std::string> options) {
    std::vector<std::string> argv = {"nvme", "format", "/dev/nvme0n1"};
    argv.insert(argv.end(), options.begin(), options.end());
    return tool(argv);
  };
  ToolCall crypto = format({"--ses=2", "--force", "--timeout=1000"});
  REQUIRE(crypto.erases != nullptr);
  CHECK(crypto.erases->config.serial == "SN001A");
  CHECK(crypto.result.out == "Success formatting namespace:1\n");
  CHECK(crypto.result.err.empty());
  ToolCall short_form = format({"-s", "1"});
  CHECK(short_form.erases != nullptr);
  CHECK(short_form.result.err.find("You have 10 seconds") != std::string::npos);
  // DK1: success, and nothing is erased.
  CHECK(format({"--force"}).erases == nullptr);
  CHECK(format({"--ses=0", "--force"}).erases == nullptr);
  CHECK(format({"--ses=0", "--force"}).result.exit == 0);
}

TEST_CASE("nvme refuses what the device cannot do or is not there") {
  ToolCall sanitize = tool({"nvme", "sanitize", "/dev/nvme0", "--sanact=4"});
  CHECK(sanitize.result.exit == 1);
  CHECK(sanitize.result.err.find("(0x4001)") != std::string::npos);
  CHECK(tool({"nvme", "sanitize-log", "/dev/nvme0n1"}).result.err.find("(0x4002)") !=
        std::string::npos);
  ToolCall absent = tool({"nvme", "format", "/dev/nvme9n1", "--ses=1", "--force"});
  CHECK(absent.result.exit == 1);
  CHECK(absent.erases == nullptr);
  CHECK(tool({"nvme", "bogus", "/dev/nvme0n1"}).result.exit == 1);
  CHECK(tool({"lsblk"}).result.exit == 127);
}

size_t count_status(const Json& report, const std::string& status) {
  size_t count = 0;
  for (const Json& test : report["DCGM GPU Diagnostic"]["test_categories"][0]["tests"]) {
    if (!test.is_null() && test["results"][0]["status"] == status) ++count;
  }
  return count;
}

TEST_CASE("dcgmi prints nine Deployment tests over all GPUs") {
  ToolCall call = tool({"dcgmi", "diag", "-r", "1", "-j"});
  CHECK(call.result.exit == 0);
  Json report = parse_json(call.result.out).value();
  CHECK(count_status(report, "PASS") == 9);
  const Json& tests = report["DCGM GPU Diagnostic"]["test_categories"][0]["tests"];
  CHECK(tests[0]["results"][0]["gpu_ids"] == "0,1");
  CHECK(tests[1].is_null());
  CHECK(tool({"dcgmi", "diag", "-r", "3", "-j"}).result.exit == 1);
}

TEST_CASE("dcgmi skips, fails, and loses GPUs as it is told") {
  std::vector<std::string> diag = {"dcgmi", "diag", "-r", "1", "-j"};
  auto report = [&](const Json& lie) { return parse_json(tool(diag, lie).result.out).value(); };
  CHECK(count_status(report({{"status", "Skip"}}), "Skip") == 9);
  Json one = report({{"status", "Fail"}, {"test", "Inforom"}});
  CHECK(count_status(one, "Fail") == 1);
  CHECK(count_status(one, "PASS") == 8);
  Json tests = report({{"missing", "1651"}})["DCGM GPU Diagnostic"]["test_categories"][0]["tests"];
  CHECK(tests[0]["results"][0]["gpu_ids"] == "0");
  CHECK(tool(diag, {{"missing", "all"}}).result.exit == 1);
}

TEST_CASE("nvidia-smi answers the query of the inventory") {
  std::string fields =
      "--query-gpu=index,serial,uuid,pci.bus_id,vbios_version,ecc.errors.uncorrected.volatile."
      "total";
  std::vector<std::string> argv = {"nvidia-smi", fields, "--format=csv,noheader"};
  CHECK(tool(argv).result.out ==
        "0, 1650, GPU-1, 00000000:17:00.0, 96.00.5F, 0\n"
        "1, 1651, GPU-2, 00000000:65:00.0, 96.00.5F, 0\n");
  CHECK(tool(argv, {{"missing", "1650"}}).result.out ==
        "0, 1651, GPU-2, 00000000:65:00.0, 96.00.5F, 0\n");
  CHECK(tool(argv, {{"ecc", 3}}).result.out.find("96.00.5F, 3\n") != std::string::npos);
  CHECK(tool({"nvidia-smi", "--query-gpu=colour", "--format=csv,noheader"}).result.exit == 2);
  ToolCall reset = tool({"nvidia-smi", "--gpu-reset"});
  CHECK(reset.result.exit == 0);
  CHECK(reset.resets_gpus);
}

size_t count_secret(const std::string& path) {
  std::string bytes = read_file(path, 64 << 20).value();
  size_t count = 0;
  for (size_t at = bytes.find("TENANT-SECRET-"); at != std::string::npos;
       at = bytes.find("TENANT-SECRET-", at + 1)) {
    ++count;
  }
  return count;
}

TEST_CASE("a tenant's disk is full of the tenant, boots, and is gone after an erase") {
  test::TempFolder folder;
  DiskConfig config;
  config.serial = "SN001A";
  config.size_mib = 4;
  Disk disk{config, "nvme0n1", folder.file("disk.raw")};
  REQUIRE(create_disk(disk).ok());
  CHECK(bootable_os(disk) == "tenant");
  // Two whole MiB of pages (less the boot record) and one page in each 64 KiB between them.
  CHECK(count_secret(disk.path) == 2 * 256 - 1 + 2 * 16);

  REQUIRE(erase_disk(disk, Erase::kNothing).ok());
  CHECK(count_secret(disk.path) == 543);
  REQUIRE(erase_disk(disk, Erase::kHalf).ok());
  CHECK_FALSE(bootable_os(disk).has_value());
  CHECK(count_secret(disk.path) == 256 + 16);
  REQUIRE(erase_disk(disk, Erase::kAll).ok());
  CHECK(read_file(disk.path, 64 << 20).value() == std::string(4 << 20, '\0'));

  disk.config.tenant_content = false;
  REQUIRE(create_disk(disk).ok());
  CHECK_FALSE(bootable_os(disk).has_value());
}

TEST_CASE("the boot script is read as iPXE would") {
  std::string text =
      "#!ipxe\n"
      "kernel http://127.0.0.1:80/image/vmlinuz initrd=r.img console=ttyS0 "
      "leasehold.run=http://127.0.0.1:80/run/b-1\n"
      "initrd --name r.img http://127.0.0.1:80/image/r.img\n"
      "boot\n";
  BootScript script = parse_boot_script(text).value();
  CHECK(script.kernel_url == "http://127.0.0.1:80/image/vmlinuz");
  CHECK(script.initrd_url == "http://127.0.0.1:80/image/r.img");
  CHECK(script.cmdline == "initrd=r.img console=ttyS0 leasehold.run=http://127.0.0.1:80/run/b-1");
  for (const char* bad : {"", "kernel x\nboot\n", "#!ipxe\nboot\n", "#!ipxe\nkernel x\n",
                          "#!ipxe\nkernel x\ninitrd\nboot\n", "#!ipxe\nshell\nboot\n"}) {
    INFO(bad);
    Result<BootScript> refused = parse_boot_script(bad);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == Code::kMalformed);
  }
}

TEST_CASE("a planned kill happens at its effect, once") {
  SystemClock clock;
  std::vector<pid_t> killed;
  EffectLog effects(clock, [&](pid_t pid) { killed.push_back(pid); });
  CHECK(effects.add("m1", "one") == 1);
  CHECK(effects.plan_kill(77, 1).error().code == Code::kConflict);
  CHECK(effects.plan_kill(1, 3).error().code == Code::kInvalidInput);
  CHECK(effects.plan_kill(-77, 3).error().code == Code::kInvalidInput);
  REQUIRE(effects.plan_kill(77, 3).ok());
  effects.add("m2", "two");
  CHECK(killed.empty());
  CHECK(effects.add("m1", "three") == 3);
  CHECK(killed == std::vector<pid_t>{77});
  effects.add("m1", "four");
  CHECK(killed.size() == 1);
  CHECK(effects.json()[2]["what"] == "three");
}

}  // namespace
}  // namespace leasehold::simsite
