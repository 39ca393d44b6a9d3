#include "drivers/redfish/boot.h"

#include <catch2/catch.hpp>

#include "tests/unit/drivers/redfish/fake_bmc.h"

using namespace leasehold;

namespace {

const std::string kPatch = "PATCH " + kSystem;
const std::string kPatchSettings = "PATCH " + kSettings;
const BootOverride kPxeOnce{BootSourceOverrideTarget::kPxe, BootSourceOverrideEnabled::kOnce};

Json body_of(const FakeBmc& bmc, const std::string& form) {
  return parse_json(bmc.last(form).body).value();
}

void add_settings(FakeBmc& bmc) {
  bmc.resources[kSystem]["@Redfish.Settings"] = {{"SettingsObject", {{"@odata.id", kSettings}}}};
  bmc.resources[kSettings] = {{"Boot", {{"BootSourceOverrideEnabled", "Disabled"}}}};
}

}  // namespace

TEST_CASE("B3: Target, Enabled and Mode are sent together, and read back") {
  FakeBmc bmc;
  auto driver = bmc.open();
  REQUIRE(driver->set_boot_override(kPxeOnce).ok());
  CHECK(body_of(bmc, kPatch) == Json{{"Boot",
                                      {{"BootSourceOverrideTarget", "Pxe"},
                                       {"BootSourceOverrideEnabled", "Once"},
                                       {"BootSourceOverrideMode", "UEFI"}}}});
  CHECK(bmc.count(kPatch) == 1);
  auto read = driver->boot_override().value();
  CHECK(read.target == BootSourceOverrideTarget::kPxe);
  CHECK(read.enabled == BootSourceOverrideEnabled::kOnce);
}

TEST_CASE("B5: the mode that the machine has is kept") {
  FakeBmc bmc;
  bmc.resources[kSystem]["Boot"]["BootSourceOverrideMode"] = "Legacy";
  REQUIRE(bmc.open()->set_boot_override(kPxeOnce).ok());
  CHECK(body_of(bmc, kPatch)["Boot"]["BootSourceOverrideMode"] == "Legacy");
  BootOverride http{BootSourceOverrideTarget::kUefiHttp, BootSourceOverrideEnabled::kOnce};
  REQUIRE(bmc.open()->set_boot_override(http).ok());
  CHECK(body_of(bmc, kPatch)["Boot"]["BootSourceOverrideMode"] == "UEFI");
}

TEST_CASE("B4: without Mode where the BMC names it, in any of its ways") {
  for (std::string refusal : {error_body("Base.1.8.PropertyNotWritable", "BootSourceOverrideMode"),
                              error_body("iLO.2.14.PropertyUnknown", "Boot/BootSourceOverrideMode"),
                              std::string(R"({"BootSourceOverrideMode@Message.ExtendedInfo":)"
                                          R"([{"MessageId":"Base.1.4.PropertyNotWritable"}]})")}) {
    FakeBmc bmc;
    bmc.next(kPatch, 400, refusal);
    REQUIRE(bmc.open()->set_boot_override(kPxeOnce).ok());
    CHECK(bmc.count(kPatch) == 2);
    CHECK_FALSE(body_of(bmc, kPatch)["Boot"].contains("BootSourceOverrideMode"));
  }
}

TEST_CASE("P4: Success beside a refused Mode; what took is not sent again") {
  FakeBmc bmc;
  bmc.next(kPatch, [&](const HttpRequest& request) {
    auto done = bmc.act(request);
    done.value().body = error_body("Base.1.8.PropertyNotWritable", "BootSourceOverrideMode");
    return done;
  });
  CHECK(bmc.open()->set_boot_override(kPxeOnce).ok());
  CHECK(bmc.count(kPatch) == 1);
}

TEST_CASE("B1: read-only on the system, writable on its Settings") {
  FakeBmc bmc;
  add_settings(bmc);
  bmc.next(kPatch, 400, error_body("Base.1.12.PropertyNotWritable", "Boot"));
  REQUIRE(bmc.open()->set_boot_override(kPxeOnce).ok());
  CHECK(bmc.count(kPatch) == 1);
  CHECK(bmc.count(kPatchSettings) == 1);
  CHECK(bmc.resources[kSettings]["Boot"]["BootSourceOverrideTarget"] == "Pxe");
}

TEST_CASE("B1: Settings exist and the system is writable: Settings are left alone") {
  FakeBmc bmc;
  add_settings(bmc);
  REQUIRE(bmc.open()->set_boot_override(kPxeOnce).ok());
  CHECK(bmc.count(kPatchSettings) == 0);
}

TEST_CASE("B2: AMI sends us to the Settings object by name") {
  FakeBmc bmc;
  add_settings(bmc);
  bmc.next(kPatch, 400, error_body("Ami.1.0.OperationSupportedInFutureStateURI"));
  CHECK(bmc.open()->set_boot_override(kPxeOnce).ok());
  CHECK(bmc.count(kPatchSettings) == 1);
}

TEST_CASE("B1, B4: both at once; then it gives up") {
  FakeBmc bmc;
  add_settings(bmc);
  std::string mode = error_body("Base.1.12.PropertyNotWritable", "BootSourceOverrideMode");
  std::string boot = error_body("Base.1.12.PropertyNotWritable", "Boot");
  bmc.next(kPatch, 400, mode);
  bmc.next(kPatch, 400, boot);
  bmc.next(kPatchSettings, 400, mode);
  bmc.next(kPatchSettings, 400, boot);
  CHECK(bmc.open()->set_boot_override(kPxeOnce).error().code == Code::kRefused);
  CHECK(bmc.count("PATCH") == 4);
}

TEST_CASE("read-only and no Settings: REFUSED after one send") {
  FakeBmc bmc;
  bmc.next(kPatch, 400, error_body("Base.1.12.PropertyNotWritable", "Boot"));
  CHECK(bmc.open()->set_boot_override(kPxeOnce).error().code == Code::kRefused);
  CHECK(bmc.count("PATCH") == 1);
}

TEST_CASE("B7: accepted and not taken is REFUSED after a few looks, sent once") {
  FakeBmc bmc;
  bmc.next(kPatch, 200);
  CHECK(bmc.open()->set_boot_override(kPxeOnce).error().code == Code::kRefused);
  CHECK(bmc.count("PATCH") == 1);
  CHECK(bmc.clock.slept_ms == (limits::kBmcReadBackTries - 1) * limits::kBmcReadBackMs);
}

TEST_CASE("an answer lost after the act is found by reading; before it, it is the error") {
  FakeBmc bmc;
  bmc.next(kPatch, [&](const HttpRequest& request) -> Result<HttpResponse> {
    auto done = bmc.act(request);
    return Error(Code::kTimeout, "no answer");
  });
  CHECK(bmc.open()->set_boot_override(kPxeOnce).ok());
  FakeBmc other;
  other.next(kPatch, [](const HttpRequest&) -> Result<HttpResponse> {
    return Error(Code::kTimeout, "no answer");
  });
  CHECK(other.open()->set_boot_override(kPxeOnce).error().code == Code::kTimeout);
  CHECK(other.count("PATCH") == 1);
}

TEST_CASE("T5: a token that dies before the PATCH: sent again after a look, once") {
  FakeBmc bmc;
  bmc.next(kPatch, 401);
  CHECK(bmc.open()->set_boot_override(kPxeOnce).ok());
  CHECK(bmc.count("PATCH") == 2);
  bmc.next(kPatch, 401);
  bmc.next(kPatch, 401);
  bmc.resources[kSystem]["Boot"]["BootSourceOverrideEnabled"] = "Disabled";
  CHECK(bmc.open()->set_boot_override(kPxeOnce).error().code == Code::kUnauthenticated);
  CHECK(bmc.count("PATCH") == 4);
}

TEST_CASE("clear is Disabled and None, and sends nothing where it is so") {
  FakeBmc bmc;
  CHECK(bmc.open()->set_boot_override({}).ok());
  CHECK(bmc.count("PATCH") == 0);
  bmc.resources[kSystem]["Boot"]["BootSourceOverrideTarget"] = "BiosSetup";
  bmc.resources[kSystem]["Boot"]["BootSourceOverrideEnabled"] = "Continuous";
  CHECK(bmc.open()->boot_override().error().code == Code::kUnsupported);
  CHECK(bmc.open()->set_boot_override({}).ok());
  CHECK(bmc.resources[kSystem]["Boot"]["BootSourceOverrideEnabled"] == "Disabled");
  CHECK(bmc.resources[kSystem]["Boot"]["BootSourceOverrideTarget"] == "None");
}

TEST_CASE("clear also takes back what waits in the Settings object") {
  FakeBmc bmc;
  add_settings(bmc);
  bmc.resources[kSettings]["Boot"] = {{"BootSourceOverrideTarget", "Hdd"},
                                      {"BootSourceOverrideEnabled", "Continuous"}};
  CHECK(bmc.open()->set_boot_override({}).ok());
  CHECK(bmc.count(kPatch) == 0);
  CHECK(bmc.resources[kSettings]["Boot"]["BootSourceOverrideEnabled"] == "Disabled");
}

TEST_CASE("P7: empty and missing boot fields") {
  FakeBmc bmc;
  bmc.resources[kSystem]["Boot"] = {{"BootSourceOverrideTarget", ""},
                                    {"BootSourceOverrideEnabled", ""},
                                    {"BootSourceOverrideMode", ""}};
  CHECK(bmc.open()->boot_override().value().enabled == BootSourceOverrideEnabled::kDisabled);
  for (const char* enabled : {"", "Permanent"}) {
    bmc.resources[kSystem]["Boot"] = {{"BootSourceOverrideTarget", "Hdd"},
                                      {"BootSourceOverrideEnabled", enabled}};
    CHECK(bmc.open()->boot_override().error().code == Code::kUnsupported);
  }
  bmc.resources[kSystem].erase("Boot");
  CHECK(bmc.open()->boot_override().error().code == Code::kUnsupported);
}
