#include "drivers/redfish/power.h"

#include <catch2/catch.hpp>

#include "tests/unit/drivers/redfish/fake_bmc.h"

using namespace leasehold;

namespace {
const std::string kSend = "POST " + kReset;

Error lost(Code code) { return Error(code, "no answer"); }
}  // namespace

TEST_CASE("W8: every word of PowerState, and unknown stays unknown") {
  auto state = [](Json word) { return redfish::parse_power_state({{"PowerState", word}}); };
  CHECK(state("On") == PowerState::kOn);
  CHECK(state("Off") == PowerState::kOff);
  CHECK(state("PoweringOn") == PowerState::kPoweringOn);
  CHECK(state("PoweringOff") == PowerState::kPoweringOff);
  for (Json word : {Json("Paused"), Json(nullptr), Json(""), Json("off"), Json(0), Json(false)}) {
    CHECK(state(word) == PowerState::kUnknown);
  }
  CHECK(redfish::parse_power_state(Json::object()) == PowerState::kUnknown);
}

TEST_CASE("W12: a state is read anew each time") {
  FakeBmc bmc;
  auto driver = bmc.open();
  CHECK(driver->power_state().value() == PowerState::kOn);
  bmc.resources[kSystem]["PowerState"] = "Off";
  CHECK(driver->power_state().value() == PowerState::kOff);
}

TEST_CASE("a reset is one POST") {
  FakeBmc bmc;
  CHECK(bmc.open()->reset(ResetType::kForceOff).ok());
  CHECK(bmc.last(kSend).body == R"({"ResetType":"ForceOff"})");
  CHECK(bmc.count("POST " + kReset) == 1);
  CHECK(bmc.open()->power_state().value() == PowerState::kOff);
}

TEST_CASE("W1: nothing is sent to a machine that is there already") {
  FakeBmc bmc;
  CHECK(bmc.open()->reset(ResetType::kOn).ok());
  CHECK(bmc.count(kSend) == 0);
}

TEST_CASE("W1, BR-31: refused because it got there meanwhile") {
  for (int status : {400, 409}) {
    FakeBmc bmc;
    bmc.next(kSend, [&bmc, status](const HttpRequest& request) {
      auto done = bmc.act(request);
      return Result<HttpResponse>(HttpResponse{status, {}, "<html>"});
    });
    CHECK(bmc.open()->reset(ResetType::kForceOff).ok());
    CHECK(bmc.count(kSend) == 1);
  }
}

TEST_CASE("W1: refused, and the machine is not there: REFUSED with the BMC's reason, sent once") {
  for (int status : {400, 409}) {
    FakeBmc bmc;
    bmc.next(kSend, status, error_body("Base.1.8.ActionParameterValueConflict"));
    Status result = bmc.open()->reset(ResetType::kForceOff);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().code == Code::kRefused);
    CHECK(result.error().message.find("ActionParameterValueConflict") != std::string::npos);
    CHECK(bmc.count(kSend) == 1);
  }
}

TEST_CASE("W3, BR-32: accepted and ignored is not off") {
  FakeBmc bmc;
  bmc.next(kSend, 204);
  auto driver = bmc.open();
  CHECK(driver->reset(ResetType::kForceOff).ok());
  CHECK(driver->power_state().value() == PowerState::kOn);
  CHECK(bmc.count(kSend) == 1);
}

TEST_CASE("an answer that gets lost after the act is found by reading") {
  for (Code code : {Code::kTimeout, Code::kMalformed}) {
    FakeBmc bmc;
    bmc.next(kSend, [&](const HttpRequest& request) -> Result<HttpResponse> {
      auto done = bmc.act(request);
      return lost(code);
    });
    CHECK(bmc.open()->reset(ResetType::kForceOff).ok());
    CHECK(bmc.count(kSend) == 1);
  }
}

TEST_CASE("an answer that gets lost before the act: the error, and no second send") {
  for (Code code : {Code::kTimeout, Code::kMalformed, Code::kUnavailable}) {
    FakeBmc bmc;
    bmc.next(kSend, [&](const HttpRequest&) -> Result<HttpResponse> { return lost(code); });
    CHECK(bmc.open()->reset(ResetType::kForceOff).error().code == code);
    CHECK(bmc.count(kSend) == 1);
  }
  FakeBmc bmc;
  bmc.next(kSend, 503, "");
  CHECK(bmc.open()->reset(ResetType::kForceOff).error().code == Code::kTimeout);
  CHECK(bmc.count(kSend) == 1);
}

TEST_CASE("T5: a token that dies before the reset: nothing is sent again") {
  FakeBmc bmc;
  bmc.next(kSend, 401);
  CHECK(bmc.open()->reset(ResetType::kForceOff).error().code == Code::kUnavailable);
  CHECK(bmc.count(kSend) == 1);
}

TEST_CASE("P4: a good status with a refusal in its body is none") {
  FakeBmc bmc;
  bmc.next(kSend, 200, error_body("Base.1.8.ActionNotSupported"));
  CHECK(bmc.open()->reset(ResetType::kForceOff).error().code == Code::kRefused);
}

TEST_CASE("W5: reset types behind ActionInfo, listed nowhere, or without the one we need") {
  FakeBmc bmc;
  Json& action = bmc.resources[kSystem]["Actions"]["#ComputerSystem.Reset"];
  action.erase("ResetType@Redfish.AllowableValues");
  SECTION("nowhere: the default set") {
    CHECK(bmc.open()->reset(ResetType::kForceOff).ok());
    CHECK(bmc.count(kSend) == 1);
  }
  SECTION("behind ActionInfo") {
    action["@Redfish.ActionInfo"] = "/redfish/v1/Systems/1/ResetActionInfo";
    Json values = {"ForceOn", "GracefulShutdown"};
    bmc.resources["/redfish/v1/Systems/1/ResetActionInfo"] = {
        {"Parameters", Json::array({{{"Name", "ResetType"}, {"AllowableValues", values}}})}};
    CHECK(bmc.open()->reset(ResetType::kForceOff).error().code == Code::kUnsupported);
    CHECK(bmc.count(kSend) == 0);
    bmc.resources[kSystem]["PowerState"] = "Off";
    CHECK(bmc.open()->reset(ResetType::kOn).ok());
    CHECK(bmc.last(kSend).body == R"({"ResetType":"ForceOn"})");
  }
  SECTION("no Actions at all (P7)") {
    bmc.resources[kSystem].erase("Actions");
    CHECK(bmc.open()->reset(ResetType::kForceOff).ok());
    CHECK(bmc.count(kSend) == 1);
  }
}

TEST_CASE("a BMC without a system says so") {
  FakeBmc bmc;
  bmc.resources["/redfish/v1/Systems"] = {{"Members", Json::array()}};
  CHECK(bmc.open()->power_state().error().code == Code::kUnsupported);
}
