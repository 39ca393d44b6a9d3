#include <catch2/catch.hpp>

#include "tests/unit/drivers/redfish/fake_bmc.h"

using namespace leasehold;

namespace {
const std::string kLogin = "POST " + kSessions;
const std::string kReadSystem = "GET " + kSystem;
}  // namespace

TEST_CASE("a session is opened by the root's link and deleted at the end") {
  FakeBmc bmc;
  {
    auto driver = bmc.open();
    REQUIRE(driver->power_state().value() == PowerState::kOn);
    CHECK(bmc.sessions.size() == 1);
  }
  CHECK(bmc.sessions.empty());
  CHECK(bmc.forms() == std::vector<std::string>{"GET /redfish/v1/", kLogin,
                                                "GET /redfish/v1/Systems", kReadSystem,
                                                "DELETE " + kSessions + "/1"});
  CHECK(header_value(bmc.requests[0].headers, "X-Auth-Token").empty());
  CHECK(header_value(bmc.requests[2].headers, "Accept-Encoding") == "identity");
  CHECK_FALSE(bmc.options_seen[2].fresh_connection);  // a read, which libcurl may repeat (T8)
  for (const HttpOptions& seen : bmc.options_seen) CHECK_FALSE(seen.repeatable);
  CHECK(bmc.options_seen[2].timeout_ms == limits::kBmcRequestMs);  // T10
  CHECK(bmc.options_seen[4].timeout_ms == limits::kBmcLogoutMs);
}

TEST_CASE("T8: a read over a connection that died is repeated at once, on a fresh one") {
  FakeBmc bmc;
  bmc.next(kReadSystem, [](const HttpRequest&) -> Result<HttpResponse> {
    return Error(Code::kMalformed, "no whole answer came: connection reset");
  });
  auto driver = bmc.open();
  REQUIRE(driver->power_state().value() == PowerState::kOn);
  CHECK(bmc.count(kReadSystem) == 2);
  CHECK(bmc.options_seen.back().fresh_connection);
}

TEST_CASE("an object that never spoke to the BMC says nothing at its end") {
  FakeBmc bmc;
  bmc.open().reset();
  CHECK(bmc.requests.empty());
}

TEST_CASE("T1: the session's URI only in the body") {
  FakeBmc bmc;
  bmc.next(kLogin, [&](const HttpRequest& request) {
    auto answer = bmc.act(request);
    answer.value().headers.pop_back();  // Location
    return answer;
  });
  REQUIRE(bmc.open()->power_state().ok());
  CHECK(bmc.sessions.empty());
  CHECK(bmc.count("DELETE " + kSessions + "/1") == 1);
}

TEST_CASE("T1: no URI anywhere; the only session of our user is ours") {
  FakeBmc bmc;
  bmc.next(kLogin, [&](const HttpRequest& request) {
    auto answer = bmc.act(request);
    answer.value().headers.pop_back();
    answer.value().body.clear();
    return answer;
  });
  REQUIRE(bmc.open()->power_state().ok());
  CHECK(bmc.sessions.empty());
}

TEST_CASE("T2: an absolute Location of another host is taken as a path only") {
  FakeBmc bmc;
  bmc.next(kLogin, [&](const HttpRequest& request) {
    auto answer = bmc.act(request);
    answer.value().headers.back().second = "https://10.0.0.99:8443" + kSessions + "/1";
    return answer;
  });
  REQUIRE(bmc.open()->power_state().ok());
  CHECK(bmc.sessions.empty());
  for (const HttpRequest& request : bmc.requests) {
    CHECK(request.url.starts_with("https://bmc.test/redfish/"));
  }
}

TEST_CASE("T2: a link of a resource to another host is taken as a path only") {
  FakeBmc bmc;
  bmc.resources["/redfish/v1/"]["Systems"]["@odata.id"] = "https://evil.test/redfish/v1/Systems";
  REQUIRE(bmc.open()->power_state().ok());
  CHECK(bmc.count("GET /redfish/v1/Systems") == 1);
}

TEST_CASE("T3: the sessions lie where the root says") {
  FakeBmc bmc;
  bmc.resources["/redfish/v1/"]["Links"]["Sessions"]["@odata.id"] = "/redfish/v1/Sessions";
  bmc.next("POST /redfish/v1/Sessions", 201, "{}",
           {{"X-Auth-Token", "t1"}, {"Location", "/redfish/v1/Sessions/9"}});
  bmc.sessions["t1"] = "/redfish/v1/Sessions/9";
  REQUIRE(bmc.open()->power_state().ok());
  CHECK(bmc.count(kLogin) == 0);
  CHECK(bmc.sessions.empty());
}

TEST_CASE("T4: the login carries no Authorization header, and the password only in its body") {
  FakeBmc bmc;
  REQUIRE(bmc.open()->power_state().ok());
  const HttpRequest& login = bmc.last(kLogin);
  CHECK(header_value(login.headers, "Authorization").empty());
  CHECK(login.body == R"({"Password":"old-Secret.1","UserName":"root"})");
}

TEST_CASE("T5: a dead token is dropped; one login, one replay of a GET") {
  FakeBmc bmc;
  auto driver = bmc.open();
  REQUIRE(driver->power_state().ok());
  bmc.sessions.clear();
  CHECK(driver->power_state().value() == PowerState::kOn);
  CHECK(bmc.count(kLogin) == 2);
  CHECK(bmc.count(kReadSystem) == 3);
}

TEST_CASE("T5: a BMC that refuses every token is not asked for ever") {
  FakeBmc bmc;
  for (int i = 0; i < 9; ++i) bmc.next("GET /redfish/v1/Systems", 401);
  CHECK(bmc.open()->power_state().error().code == Code::kUnauthenticated);
  CHECK(bmc.count(kLogin) == 2);
  CHECK(bmc.count("GET /redfish/v1/Systems") == 2);
  CHECK(bmc.sessions.empty());  // T7: both that it gave are given back
}

TEST_CASE("A9: a wrong password is sent once, whatever is asked afterwards") {
  FakeBmc bmc;
  auto driver = bmc.open("wrong-Secret");
  CHECK(driver->power_state().error().code == Code::kCredentialRefused);
  CHECK(driver->firmware_inventory().error().code == Code::kCredentialRefused);
  CHECK(driver->reset(ResetType::kForceOff).error().code == Code::kCredentialRefused);
  CHECK(bmc.count(kLogin) == 1);
}

TEST_CASE("T6: a full table is no wrong password; sessions of our own user make room") {
  FakeBmc bmc;
  bmc.next(kLogin, 503,
           R"({"error":{"code":"Base.1.5.GeneralError","@Message.ExtendedInfo":[)"
           R"({"MessageId":"IDRAC.2.1.RAC0218","Severity":"Informational"}]}})");
  bmc.next("GET " + kSessions, 200, R"({"Members":[{"@odata.id":"/s/1"},{"@odata.id":"/s/2"}]})");
  bmc.next("GET /s/1", 200, R"({"UserName":"somebody"})");
  bmc.next("GET /s/2", 200, R"({"UserName":"root"})");
  bmc.next("DELETE /s/2", 204);
  auto driver = bmc.open();
  CHECK(driver->power_state().value() == PowerState::kOn);
  CHECK(bmc.count(kLogin) == 2);
  CHECK(bmc.count("DELETE /s/1") == 0);
  CHECK(header_value(bmc.last("DELETE /s/2").headers, "Authorization") ==
        "Basic cm9vdDpvbGQtU2VjcmV0LjE=");
}

// The next login finds a table that somebody else has filled; his session answers DELETE with this.
void fill_session_table(FakeBmc& bmc, int status) {
  bmc.next(kLogin, 400, error_body("Base.1.8.SessionLimitExceeded"));
  bmc.next("GET " + kSessions, 200, R"({"Members":[{"@odata.id":"/s/1"}]})");
  bmc.next("GET /s/1", 200, R"({"UserName":"somebody"})");
  bmc.next("DELETE /s/1", status);
}

TEST_CASE("T6: a table full of others' sessions does not keep us out") {
  FakeBmc bmc;
  fill_session_table(bmc, 204);
  CHECK(bmc.open()->power_state().value() == PowerState::kOn);
  CHECK(bmc.count(kLogin) == 2);
}

TEST_CASE("T6: a full table that cannot be emptied is UNAVAILABLE, without a second login") {
  FakeBmc bmc;
  fill_session_table(bmc, 403);
  CHECK(bmc.open()->power_state().error().code == Code::kUnavailable);
  CHECK(bmc.count(kLogin) == 1);
}

TEST_CASE("T9: an error status with a body that is no JSON is judged by its status") {
  FakeBmc bmc;
  bmc.next(kLogin, 401, "<html>401");
  CHECK(bmc.open()->power_state().error().code == Code::kCredentialRefused);
}

TEST_CASE("T8, T9, T11: a read is repeated after a reset, half a body and a 5xx") {
  FakeBmc bmc;
  bmc.next(kReadSystem, [](const HttpRequest&) -> Result<HttpResponse> {
    return Error(Code::kMalformed, "connection reset");
  });
  bmc.next(kReadSystem, 200, R"({"PowerState":"Of)");
  CHECK(bmc.open()->power_state().value() == PowerState::kOn);
  CHECK(bmc.clock.slept_ms == limits::kBmcGetRetryMs);  // the reset at once, on a fresh connection

  for (int i = 0; i < 9; ++i) bmc.next(kReadSystem, 503, "<html>");
  CHECK(bmc.open()->power_state().error().code == Code::kUnavailable);
  CHECK(bmc.count(kReadSystem) == 3 + limits::kBmcGetTries);
}

TEST_CASE("T10: a read that hangs is not repeated") {
  FakeBmc bmc;
  bmc.next(kReadSystem, [](const HttpRequest&) -> Result<HttpResponse> {
    return Error(Code::kTimeout, "no answer");
  });
  CHECK(bmc.open()->power_state().error().code == Code::kTimeout);
  CHECK(bmc.count(kReadSystem) == 1);
}

TEST_CASE("P11: a root without links, and a closed root, fall back to the standard's paths") {
  FakeBmc bmc;
  bmc.resources["/redfish/v1/"] = Json::object();
  CHECK(bmc.open()->power_state().ok());
  bmc.next("GET /redfish/v1/", 401);
  CHECK(bmc.open()->power_state().ok());
}

TEST_CASE("A8: every session but our own is deleted, and that is looked at again") {
  FakeBmc bmc;
  bmc.sessions["tenant"] = kSessions + "/77";
  auto driver = bmc.open();
  CHECK(driver->delete_other_sessions().ok());
  CHECK(bmc.sessions.size() == 1);
  CHECK(bmc.sessions.count("token-1") == 1);
  CHECK(bmc.count("DELETE") == 1);
}

TEST_CASE("A8: a session that stays open is an error") {
  FakeBmc bmc;
  bmc.sessions["tenant"] = kSessions + "/77";
  bmc.next("DELETE " + kSessions + "/77", 204);  // says so and does nothing
  CHECK(bmc.open()->delete_other_sessions().error().code == Code::kRefused);
  CHECK(bmc.count("DELETE " + kSessions + "/77") == 1);
}
