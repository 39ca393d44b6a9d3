#include "pxe/ramdisk/nvme.h"

#include "tests/unit/pxe/ramdisk/support.h"

using namespace leasehold;
using leasehold::test::FakeMachine;
using leasehold::test::id_ctrl;

TEST_CASE("id-ctrl of QEMU's controller") {
  Result<NvmeController> id = parse_id_ctrl(id_ctrl(0x10a, 0, 0));
  REQUIRE(id.ok());
  CHECK(id.value().format);
  CHECK(id.value().namespace_management);
  CHECK_FALSE(id.value().format_crypto);
  CHECK_FALSE(id.value().sanitize_crypto);
  CHECK(nvme_erase_plan(id.value()) == std::vector<NvmeErase>{NvmeErase::kFormatUserData});
}

TEST_CASE("DK2: the strongest method comes first, and SES 0 never") {
  NvmeController all = parse_id_ctrl(id_ctrl(2, 4, 3)).value();
  CHECK(nvme_erase_plan(all) ==
        std::vector<NvmeErase>{NvmeErase::kSanitizeCrypto, NvmeErase::kSanitizeBlock,
                               NvmeErase::kFormatCrypto, NvmeErase::kFormatUserData});
  CHECK(nvme_erase_plan(parse_id_ctrl(id_ctrl(0, 4, 0)).value()).empty());
}

TEST_CASE("a capacity may be a number, text or a float") {
  CHECK(parse_id_ctrl(id_ctrl(2, 0, 0, R"("tnvmcap":"4194304")")).value().tnvmcap == 4194304);
  CHECK(parse_id_ctrl(id_ctrl(2, 0, 0, R"("tnvmcap":4194304.0)")).value().tnvmcap == 4194304);
  CHECK_FALSE(parse_id_ctrl(id_ctrl(2, 0, 0, R"("tnvmcap":"340282366920938463463374")")).ok());
  CHECK_FALSE(parse_id_ctrl(id_ctrl(2, 0, 0, R"("tnvmcap":-1)")).ok());
}

TEST_CASE("broken output of nvme is malformed, not a crash") {
  for (const std::string& text :
       {std::string(), std::string("NVMe status: Invalid"), std::string("{"), std::string("[]"),
        std::string("{\"oacs\":null}"), std::string(100'000, '['), std::string("\0\xff{}", 4)}) {
    CHECK(parse_id_ctrl(text).error().code == Code::kMalformed);
    CHECK(parse_sanitize_log(text).error().code == Code::kMalformed);
    CHECK(parse_namespace_count(text).error().code == Code::kMalformed);
  }
}

TEST_CASE("the sanitize log in the shapes of nvme-cli 1.x and 2.x") {
  auto state = [](const std::string& text) { return parse_sanitize_log(text).value(); };
  CHECK(state(R"({"nvme0":{"sprog":65535,"sstat":257}})") == SanitizeState::kDone);
  CHECK(state(R"({"nvme0":{"sprog":3,"sstat":2}})") == SanitizeState::kRunning);
  CHECK(state(R"({"nvme0n1":{"sprog":65535,"sstat":{"status":"(3) Most Recent Sanitize"}}})") ==
        SanitizeState::kFailed);
  CHECK(state(R"({"nvme0n1":{"sprog":65535,"sstat":{"status":"(4) done"}}})") ==
        SanitizeState::kDone);
  CHECK(state(R"({"nvme0n1":{"sprog":0,"sstat":{"status":"(0) never"}}})") == SanitizeState::kIdle);
  CHECK_FALSE(parse_sanitize_log(R"({"nvme0":{"sstat":7}})").ok());
  CHECK_FALSE(parse_sanitize_log(R"({"nvme0":{"sstat":"done"}})").ok());
}

TEST_CASE("namespaces are counted in either shape") {
  CHECK(parse_namespace_count(R"({"nsid_list":[{"nsid":1},{"nsid":2}]})").value() == 2);
  CHECK(parse_namespace_count("warning: x\n{\"nsid_list\":[{\"nsid\":1}]}\n").value() == 1);
  CHECK_FALSE(parse_namespace_count("{\"nsid_list\":[]}").ok());
}

TEST_CASE("DK7: hidden areas are none only if the figures add up") {
  struct Row {
    const char* capacities;
    HiddenAreas expected;
  };
  for (const Row& row :
       {Row{R"("tnvmcap":0)", HiddenAreas::kNone}, Row{R"("tnvmcap":4194304)", HiddenAreas::kNone},
        Row{R"("tnvmcap":8388608,"unvmcap":4194304)", HiddenAreas::kPresent},
        Row{R"("tnvmcap":8388608,"unvmcap":0)", HiddenAreas::kUnknown},
        Row{R"("tnvmcap":4096)", HiddenAreas::kUnknown}}) {
    FakeMachine machine;
    machine.disk("nvme0n1", "S1");
    machine.nvme(id_ctrl(2, 0, 0, row.capacities), "");
    std::vector<WipeCommand> commands;
    CHECK(probe_nvme(list_block_devices(machine.root()).at(0), commands).hidden_areas ==
          row.expected);
  }
}

TEST_CASE("a controller that cannot list its namespaces hides them") {
  FakeMachine machine;
  machine.disk("nvme0n1", "S1");
  machine.nvme(id_ctrl(0xa, 0, 0), "'list-ns '*) echo Invalid Field; exit 1;;");
  std::vector<WipeCommand> commands;
  CHECK(probe_nvme(list_block_devices(machine.root()).at(0), commands).hidden_areas ==
        HiddenAreas::kUnknown);
}
