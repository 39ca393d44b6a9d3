#include "drivers/redfish/accounts.h"

#include <catch2/catch.hpp>

#include "tests/unit/drivers/redfish/fake_bmc.h"

using namespace leasehold;

namespace {

const std::string kLogin = "POST " + kSessions;
const std::string kPatch = "PATCH " + kAccount;
const std::string kNew = "new-Secret.2";

std::string gate() { return error_body("Base.1.18.1.PasswordChangeRequired", kAccount); }

FakeBmc::Answer failing(Code code) {
  return [code](const HttpRequest&) -> Result<HttpResponse> { return Error(code, "lost"); };
}

}  // namespace

TEST_CASE("A3, A4: the account is found by its name, not by its id; empty slots are none") {
  FakeBmc bmc;
  auto driver = bmc.open();
  auto accounts = driver->accounts().value();
  REQUIRE(accounts.size() == 1);
  CHECK(accounts[0].id == "2");
  CHECK(accounts[0].uri == kAccount);
  CHECK(accounts[0].user_name == "root");
  CHECK(accounts[0].role_id == "Administrator");
  CHECK(accounts[0].enabled);
  REQUIRE(driver->set_password("root", kNew).ok());
  CHECK(bmc.passwords["root"] == kNew);
  CHECK(bmc.last(kPatch).body == R"({"Password":"new-Secret.2"})");
  CHECK(bmc.count("PATCH") == 1);
}

TEST_CASE("A3: a name that only looks alike is not ours, two of one name are not decided") {
  FakeBmc bmc;
  CHECK(bmc.open()->set_password("Root", kNew).error().code == Code::kNotFound);
  bmc.resources["/redfish/v1/AccountService/Accounts/1"]["UserName"] = "root";
  CHECK(bmc.open()->set_password("root", kNew).error().code == Code::kConflict);
  CHECK(bmc.count("PATCH") == 0);
}

TEST_CASE("an account that cannot be read makes the list no list, but does not stop a rotation") {
  FakeBmc bmc;
  bmc.resources.erase("/redfish/v1/AccountService/Accounts/1");
  CHECK(bmc.open()->accounts().error().code == Code::kUnavailable);
  CHECK(bmc.open()->set_password("root", kNew).ok());
  CHECK(bmc.open(kNew)->set_password("other", kNew).error().code == Code::kUnavailable);
}

TEST_CASE("A12: every good answer is only an answer") {
  for (int status : {200, 202, 204}) {
    FakeBmc bmc;
    bmc.next(kPatch, status);
    CHECK(bmc.open()->set_password("root", kNew).ok());
    CHECK(bmc.passwords["root"] == "old-Secret.1");
    CHECK(bmc.count("PATCH") == 1);
  }
}

TEST_CASE("A12, BR-23: an answer that says nothing is reported as unknown, never as unsent") {
  struct Case {
    FakeBmc::Answer answer;
    Code code;
  };
  auto status = [](int number) {
    return [number](const HttpRequest&) -> Result<HttpResponse> {
      return HttpResponse{number, {}, ""};
    };
  };
  for (const Case& each :
       {Case{failing(Code::kTimeout), Code::kTimeout},
        Case{failing(Code::kMalformed), Code::kMalformed}, Case{status(500), Code::kTimeout},
        Case{status(503), Code::kTimeout}, Case{status(429), Code::kTimeout},
        Case{status(401), Code::kUnauthenticated}, Case{status(400), Code::kRefused}}) {
    FakeBmc bmc;
    bmc.next(kPatch, each.answer);
    CHECK(bmc.open()->set_password("root", kNew).error().code == each.code);
    CHECK(bmc.count("PATCH") == 1);
  }
}

TEST_CASE("A12: before the PATCH every failure is UNAVAILABLE: nothing was changed") {
  for (Code code : {Code::kTimeout, Code::kUnavailable}) {
    FakeBmc bmc;
    bmc.next("GET /redfish/v1/AccountService/Accounts", failing(code));
    CHECK(bmc.open()->set_password("root", kNew).error().code == Code::kUnavailable);
    CHECK(bmc.count("PATCH") == 0);
  }
  FakeBmc bmc;
  bmc.next(kPatch, failing(Code::kUnavailable));
  CHECK(bmc.open()->set_password("root", kNew).error().code == Code::kUnavailable);
  CHECK(bmc.open()->set_password("root", "").error().code == Code::kInvalidInput);
}

TEST_CASE("P4, A12: a good status with a refusal in its body") {
  FakeBmc bmc;
  bmc.next(kPatch, 200, error_body("Base.1.8.PropertyValueFormatError", "Password"));
  CHECK(bmc.open()->set_password("root", kNew).error().code == Code::kRefused);
}

TEST_CASE("A9: after its password was sent, an object never logs in with the old one") {
  FakeBmc bmc;
  auto driver = bmc.open();
  REQUIRE(driver->set_password("root", kNew).ok());
  bmc.sessions.clear();
  CHECK(driver->power_state().error().code == Code::kUnauthenticated);
  CHECK(bmc.count(kLogin) == 1);
}

TEST_CASE("A1: behind the gate the account is where the BMC says, and no tag is needed") {
  FakeBmc bmc;
  for (int i = 0; i < 9; ++i) bmc.next("GET /redfish/v1/AccountService", 403, gate());
  bmc.next("GET " + kAccount, 403, gate());
  REQUIRE(bmc.open()->set_password("root", kNew).ok());
  CHECK(bmc.passwords["root"] == kNew);
  CHECK(bmc.count("PATCH") == 1);
}

TEST_CASE("A2: a login that succeeds with PasswordChangeRequired names the account") {
  FakeBmc bmc;
  bmc.next(kLogin, [&](const HttpRequest& request) {
    auto answer = bmc.act(request);
    answer.value().body = gate();
    return answer;
  });
  bmc.next("GET /redfish/v1/AccountService", 403, gate());
  REQUIRE(bmc.open()->set_password("root", kNew).ok());
  CHECK(bmc.count("GET /redfish/v1/AccountService") == 1);
  CHECK(bmc.sessions.empty());
}

TEST_CASE("credential_works: one try, and its session is deleted") {
  FakeBmc bmc;
  auto driver = bmc.open("irrelevant");
  CHECK(driver->credential_works({"root", "old-Secret.1"}).value());
  CHECK(bmc.sessions.empty());
  CHECK(bmc.count(kLogin) == 1);
  CHECK_FALSE(driver->credential_works({"root", "old-Secret.2"}).value());
  CHECK(bmc.count(kLogin) == 2);
}

TEST_CASE("credential_works: true and false only when the BMC said so") {
  struct Case {
    int status;
    std::string body;
    int expected;  // 1 true, 0 false, -1 an Error
  };
  for (const Case& each :
       {Case{403, "", 0}, Case{401, "<html>", 0}, Case{403, gate(), 1}, Case{400, gate(), 1},
        Case{400, "", -1}, Case{404, "", -1}, Case{429, "", -1}, Case{500, "", -1},
        Case{503, error_body("IDRAC.2.1.RAC0218"), -1}, Case{200, "{}", -1},
        Case{403, error_body("Base.1.8.SessionLimitExceeded"), -1}, Case{302, "", -1}}) {
    FakeBmc bmc;
    bmc.next(kLogin, each.status, each.body);
    auto works = bmc.open()->credential_works({"root", "old-Secret.1"});
    int got = works.ok() ? (works.value() ? 1 : 0) : -1;
    CAPTURE(each.status, each.body);
    CHECK(got == each.expected);
    CHECK(bmc.count(kLogin) == 1);
  }
  for (Code code : {Code::kTimeout, Code::kMalformed, Code::kUnavailable}) {
    FakeBmc bmc;
    bmc.next(kLogin, failing(code));
    CHECK(bmc.open()->credential_works({"root", "x-Secret"}).error().code == code);
    CHECK(bmc.count(kLogin) == 1);
  }
}

namespace {

const std::string kOther = "/redfish/v1/AccountService/Accounts/3";

// A second administrator beside root.
BmcAccount add_other(FakeBmc& bmc) {
  Json& list = bmc.resources["/redfish/v1/AccountService/Accounts"];
  list["Members"].push_back({{"@odata.id", kOther}});
  list["Members@odata.count"] = list["Members"].size();
  bmc.resources[kOther] = {
      {"Id", "3"}, {"UserName", "tenant"}, {"RoleId", "Administrator"}, {"Enabled", true}};
  return {"3", kOther, "tenant", "Administrator", true};
}

}  // namespace

TEST_CASE("closing an account: a DELETE that works is all that is sent") {
  FakeBmc bmc;
  BmcAccount other = add_other(bmc);
  bmc.next("DELETE " + kOther, [&](const HttpRequest&) -> Result<HttpResponse> {
    bmc.resources.erase(kOther);
    return HttpResponse{204, {}, ""};
  });
  CHECK(bmc.open()->close_account(other).ok());
  CHECK(bmc.count("DELETE " + kOther) == 1);
  CHECK(bmc.count("PATCH") == 0);
}

TEST_CASE("A4: an account of a fixed slot is disabled, and read back") {
  FakeBmc bmc;
  BmcAccount other = add_other(bmc);
  bmc.next("DELETE " + kOther, 405);
  CHECK(bmc.open()->close_account(other).ok());
  CHECK(bmc.last("PATCH " + kOther).body == R"({"Enabled":false})");
  CHECK(bmc.count("DELETE " + kOther) == 1);
  CHECK(bmc.count("PATCH " + kOther) == 1);
}

TEST_CASE("closing an account: good answers without the deed are no success") {
  FakeBmc bmc;
  BmcAccount other = add_other(bmc);
  bmc.next("DELETE " + kOther, 204);
  bmc.next("PATCH " + kOther, 200);
  Status closed = bmc.open()->close_account(other);
  REQUIRE_FALSE(closed.ok());
  CHECK(closed.error().code == Code::kRefused);
  CHECK(bmc.count("DELETE " + kOther) == 1);
  CHECK(bmc.count("PATCH " + kOther) == 1);
}

TEST_CASE("closing an account: a lost answer is read back, what was not sent is UNAVAILABLE") {
  FakeBmc bmc;
  BmcAccount other = add_other(bmc);
  bmc.next("DELETE " + kOther, [&](const HttpRequest&) -> Result<HttpResponse> {
    bmc.resources.erase(kOther);
    return Error(Code::kTimeout, "lost");
  });
  CHECK(bmc.open()->close_account(other).ok());
  other = add_other(bmc);
  bmc.next("DELETE " + kOther, failing(Code::kUnavailable));
  CHECK(bmc.open()->close_account(other).error().code == Code::kUnavailable);
  CHECK(bmc.count("PATCH") == 0);
}

TEST_CASE("closing an account: never the one that is logged in") {
  FakeBmc bmc;
  CHECK(bmc.open()->close_account({"2", kAccount, "root", "", true}).error().code ==
        Code::kInvalidInput);
  CHECK(bmc.count("DELETE " + kAccount) == 0);
}

TEST_CASE("A4: a slot without a name that is said to be enabled is an account") {
  FakeBmc bmc;
  bmc.resources["/redfish/v1/AccountService/Accounts/1"]["Enabled"] = true;
  CHECK(bmc.open()->accounts().value().size() == 2);
}
