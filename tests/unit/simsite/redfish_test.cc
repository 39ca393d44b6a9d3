#include <catch2/catch.hpp>
#include <deque>
#include <set>

#include "tests/unit/simsite/redfish_support.h"

namespace leasehold::simsite {
namespace {

constexpr const char* kSystem = "/redfish/v1/Systems/1";
constexpr const char* kReset = "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset";
constexpr const char* kAccount = "/redfish/v1/AccountService/Accounts/2";
constexpr const char* kSessions = "/redfish/v1/SessionService/Sessions";

void collect_links(const Json& value, std::deque<std::string>& found) {
  if (!value.is_structured()) return;
  for (const auto& [key, member] : value.items()) {
    if (value.is_object() && key == "@odata.id") found.push_back(member.get<std::string>());
    collect_links(member, found);
  }
}

TEST_CASE("every link of the service leads somewhere and says who it is") {
  BmcState state = test_state();
  std::deque<std::string> open = {"/redfish/v1/"};
  std::set<std::string> seen;
  while (!open.empty()) {
    std::string path = open.front();
    open.pop_front();
    if (!seen.insert(path).second) continue;
    RedfishReply reply = answer(state, {.path = path});
    INFO(path);
    REQUIRE(reply.response.status == 200);
    Json body = body_of(reply);
    CHECK(body["@odata.id"] == path);
    CHECK(json_text(body, "@odata.type").front() == '#');
    CHECK_FALSE(json_text(body, "Name").empty());
    CHECK(header_value(reply.response.headers, "OData-Version") == "4.0");
    CHECK(header_value(reply.response.headers, "ETag").size() == 18);
    collect_links(body, open);
  }
  CHECK(seen.count("/redfish/v1/UpdateService/FirmwareInventory/BIOS") == 1);
  CHECK(seen.count("/redfish/v1/Systems/1/EthernetInterfaces/1") == 1);
  CHECK(seen.size() == 24);
}

TEST_CASE("only the root documents and the login need no credential") {
  BmcState state = test_state();
  for (const char* path :
       {"/redfish", "/redfish/v1", "/redfish/v1/", "/redfish/v1/odata", "/redfish/v1/$metadata"}) {
    INFO(path);
    CHECK(answer(state, {.path = path, .headers = {}}).response.status == 200);
  }
  for (const char* path : {kSystem, kAccount, kSessions, "/redfish/v1/Nowhere"}) {
    INFO(path);
    RedfishReply reply = answer(state, {.path = path, .headers = {}});
    CHECK(reply.response.status == 401);
    CHECK(header_value(reply.response.headers, "WWW-Authenticate") == "Basic realm=\"Redfish\"");
  }
  CHECK(
      answer(state, {.path = kSystem, .headers = {{"X-Auth-Token", "token-8"}}}).response.status ==
      401);
}

TEST_CASE("Basic authentication opens with the account's password and no other") {
  BmcState state = test_state();
  auto status = [&](const std::string& user, const std::string& password) {
    RedfishReply reply =
        answer(state, {.path = kSystem, .headers = {{"Authorization", basic(user, password)}}});
    return reply.response.status;
  };
  CHECK(status("admin", "factory-1") == 200);
  CHECK(status("admin", "factory-2") == 401);
  CHECK(status("admin", "") == 401);
  CHECK(status("", "") == 401);  // the empty slot is nobody
  CHECK(status("root", "factory-1") == 401);
  state.accounts[1].enabled = false;
  CHECK(status("admin", "factory-1") == 401);
}

TEST_CASE("a checked password is reported for counting, and a locked account stays shut") {
  BmcState state = test_state();
  TestCall wrong{.path = kSystem, .headers = {{"Authorization", basic("admin", "wrong-one")}}};
  RedfishReply reply = answer(state, wrong);
  REQUIRE(reply.login.has_value());
  CHECK(reply.login->account_id == "2");
  CHECK_FALSE(reply.login->succeeded);

  state.accounts[1].locked_until_ms = 5000;  // the calls are made at 1000
  TestCall right{.path = kSystem, .headers = {{"Authorization", basic("admin", "factory-1")}}};
  CHECK(answer(state, right, true).response.status == 401);
  CHECK(answer(state, right, false).response.status == 200);
  state.accounts[1].locked_until_ms = 1000;
  CHECK(answer(state, right, true).response.status == 200);
}

TEST_CASE("a session is created, shown and deleted") {
  BmcState state = test_state();
  Json login = {{"UserName", "admin"}, {"Password", "factory-1"}};
  RedfishReply reply =
      answer(state, {.method = "POST", .path = kSessions, .body = login, .headers = {}});
  CHECK(reply.response.status == 201);
  CHECK(header_value(reply.response.headers, "X-Auth-Token") == "fresh-token");
  CHECK(header_value(reply.response.headers, "Location") == std::string(kSessions) + "/1");
  CHECK(reply.response.body.find("factory-1") == std::string::npos);
  const auto* created = std::get_if<CreateSession>(&reply.change);
  REQUIRE(created != nullptr);
  CHECK_FALSE(is_effect(reply.change));
  state.sessions.push_back(created->session);
  CHECK(answer(state, {.path = kSystem, .headers = {{"X-Auth-Token", "fresh-token"}}})
            .response.status == 200);

  CHECK(body_of(answer(state, {.path = kSessions}))["Members@odata.count"] == 2);
  RedfishReply deletion =
      answer(state, {.method = "DELETE", .path = std::string(kSessions) + "/1"});
  CHECK(deletion.response.status == 204);
  CHECK(std::get<DeleteSession>(deletion.change).id == "1");
  CHECK(is_effect(deletion.change));  // another's: whoever deletes it came with a password
  RedfishReply goodbye = answer(state, {.method = "DELETE",
                                        .path = std::string(kSessions) + "/1",
                                        .headers = {{"X-Auth-Token", "fresh-token"}}});
  CHECK(goodbye.response.status == 204);
  CHECK_FALSE(is_effect(goodbye.change));
  CHECK(
      answer(state, {.method = "DELETE", .path = std::string(kSessions) + "/9"}).response.status ==
      404);
}

TEST_CASE("a login that is wrong changes nothing") {
  BmcState state = test_state();
  auto login = [&](const Json& body) {
    RedfishReply reply =
        answer(state, {.method = "POST", .path = kSessions, .body = body, .headers = {}});
    CHECK(std::holds_alternative<std::monostate>(reply.change));
    return reply.response.status;
  };
  CHECK(login({{"UserName", "admin"}, {"Password", "wrong"}}) == 401);
  CHECK(login({{"UserName", "admin"}}) == 400);
  CHECK(login({{"UserName", 7}, {"Password", "wrong"}}) == 400);
}

TEST_CASE("account ids are not user names and the password is never shown") {
  Json account = body_of(answer(test_state(), {.path = kAccount}));
  CHECK(account["Id"] == "2");
  CHECK(account["UserName"] == "admin");
  CHECK(account["Password"].is_null());
  CHECK(account["RoleId"] == "Administrator");
  CHECK(
      answer(test_state(), {.path = "/redfish/v1/AccountService/Accounts/admin"}).response.status ==
      404);
}

TEST_CASE("a password must be 8 to 20 characters and is not echoed") {
  BmcState state = test_state();
  auto patch = [&](const std::string& password) {
    return answer(state, {.method = "PATCH", .path = kAccount, .body = {{"Password", password}}});
  };
  for (size_t length : {8, 20}) {
    std::string password(length, 'x');
    RedfishReply reply = patch(password);
    CHECK(reply.response.status == 204);
    CHECK(std::get<SetAccount>(reply.change).password == password);
    CHECK(std::get<SetAccount>(reply.change).account_id == "2");
    CHECK(describe(reply.change).find(password) == std::string::npos);
  }
  for (size_t length : {0, 7, 21}) {
    std::string password(length, 'y');
    RedfishReply reply = patch(password);
    CHECK(reply.response.status == 400);
    CHECK(message_id(reply) == "PropertyValueFormatError");
    CHECK(std::holds_alternative<std::monostate>(reply.change));
    CHECK(reply.response.body.find("yyyy") == std::string::npos);
  }
}

TEST_CASE("what cannot be written is refused with the reason") {
  BmcState state = test_state();
  auto id = [&](const std::string& path, const Json& body) {
    RedfishReply reply = answer(state, {.method = "PATCH", .path = path, .body = body});
    CHECK(reply.response.status == 400);
    return message_id(reply);
  };
  CHECK(id(kAccount, {{"UserName", "root"}}) == "PropertyNotWritable");
  CHECK(id(kAccount, {{"Pasword", "12345678"}}) == "PropertyUnknown");
  CHECK(id(kAccount, {{"Password", 12345678}}) == "PropertyValueTypeError");
  CHECK(id(kSystem, {{"PowerState", "Off"}}) == "PropertyNotWritable");
  CHECK(id(kSystem, {{"Boot", {{"BootSourceOverrideTarget", "Floppy"}}}}) ==
        "PropertyValueNotInList");
  CHECK(id(kSystem, {{"Boot", {{"BootOrder", "x"}}}}) == "PropertyUnknown");
}

TEST_CASE("If-Match is judged against the entity's tag") {
  BmcState state = test_state();
  std::string tag = header_value(answer(state, {.path = kSystem}).response.headers, "ETag");
  auto status = [&](const std::string& wanted) {
    TestCall call{.method = "PATCH",
                  .path = kSystem,
                  .body = {{"Boot", {{"BootSourceOverrideTarget", "Pxe"}}}},
                  .headers = {{"X-Auth-Token", "token-7"}, {"If-Match", wanted}}};
    return answer(state, call).response.status;
  };
  CHECK(status(tag) == 204);
  CHECK(status("*") == 204);
  CHECK(status("\"0000000000000000\"") == 412);
  state.power = Power::kOn;
  CHECK(status(tag) == 412);
}

TEST_CASE("the boot override is read, written whole or in part") {
  BmcState state = test_state();
  Json boot = body_of(answer(state, {.path = kSystem}))["Boot"];
  CHECK(boot["BootSourceOverrideTarget"] == "None");
  CHECK(boot["BootSourceOverrideEnabled@Redfish.AllowableValues"].size() == 3);
  auto patched = [&](const Json& wanted) {
    RedfishReply reply =
        answer(state, {.method = "PATCH", .path = kSystem, .body = {{"Boot", wanted}}});
    CHECK(reply.response.status == 204);
    return std::get<SetBoot>(reply.change).boot;
  };
  BootOverride once = patched({{"BootSourceOverrideTarget", "UefiHttp"},
                               {"BootSourceOverrideEnabled", "Once"},
                               {"BootSourceOverrideMode", "UEFI"}});
  CHECK(once == BootOverride{"UefiHttp", "Once", "UEFI"});
  state.boot = once;
  CHECK(patched({{"BootSourceOverrideTarget", "Pxe"}}) == BootOverride{"Pxe", "Once", "UEFI"});
  CHECK(patched({{"BootSourceOverrideTarget", "None"}}) ==
        BootOverride{"None", "Disabled", "UEFI"});
}

TEST_CASE("a reset says what it would do, or why not") {
  BmcState state = test_state();
  auto reset = [&](const Json& body) {
    return answer(state, {.method = "POST", .path = kReset, .body = body});
  };
  CHECK(std::get<Reset>(reset({{"ResetType", "On"}}).change).type == "On");
  CHECK(reset({{"ResetType", "ForceOff"}}).response.status == 204);
  CHECK(message_id(reset({{"ResetType", "Nmi"}})) == "ActionParameterValueNotInList");
  CHECK(message_id(reset(Json::object())) == "ActionParameterMissing");
  RedfishReply restart = reset({{"ResetType", "ForceRestart"}});
  CHECK(restart.response.status == 409);
  CHECK(std::holds_alternative<std::monostate>(restart.change));
  state.power = Power::kOn;
  CHECK(reset({{"ResetType", "ForceRestart"}}).response.status == 204);
}

TEST_CASE("methods, paths and bodies that do not fit are refused") {
  BmcState state = test_state();
  RedfishReply method = answer(state, {.method = "DELETE", .path = kSystem});
  CHECK(method.response.status == 405);
  CHECK(header_value(method.response.headers, "Allow") == "GET, HEAD, PATCH");
  CHECK(answer(state, {.path = "/redfish/v1/Systems/2"}).response.status == 404);
  CHECK(
      answer(state, {.path = "/redfish/v1/UpdateService/FirmwareInventory/NIC"}).response.status ==
      404);
  RedfishRequest broken{"POST", kReset, {{"X-Auth-Token", "token-7"}}, "{\"ResetType\":"};
  RedfishReply reply = redfish_answer(state, {}, broken);
  CHECK(reply.response.status == 400);
  CHECK(message_id(reply) == "MalformedJSON");
}

TEST_CASE("an administrator makes accounts and deletes any but its own") {
  BmcState state = test_state();
  const std::string accounts = "/redfish/v1/AccountService/Accounts";
  Json wanted = {{"UserName", "more"}, {"Password", "another-1"}, {"RoleId", "Administrator"}};
  RedfishReply made = answer(state, {.method = "POST", .path = accounts, .body = wanted});
  CHECK(made.response.status == 201);
  CHECK(header_value(made.response.headers, "Location") == accounts + "/4");
  CHECK(std::get<CreateAccount>(made.change).account.password == "another-1");
  CHECK(is_effect(made.change));
  CHECK(describe(made.change) == "account 4 created");
  wanted["UserName"] = "admin";
  CHECK(answer(state, {.method = "POST", .path = accounts, .body = wanted}).response.status == 400);
  auto remove = [&](const char* id) {
    return answer(state, {.method = "DELETE", .path = accounts + "/" + id});
  };
  CHECK(std::get<DeleteAccount>(remove("3").change).account_id == "3");
  CHECK(is_effect(remove("3").change));
  CHECK(remove("2").response.status == 400);  // its own
  CHECK(remove("1").response.status == 400);  // an empty slot
  CHECK(remove("9").response.status == 404);
}

TEST_CASE("a read-only account reads and changes nothing but its own session") {
  BmcState state = test_state();
  state.sessions.push_back({"8", "token-8", "watch"});
  HttpHeaders watch = {{"X-Auth-Token", "token-8"}};
  CHECK(answer(state, {.path = kSystem, .headers = watch}).response.status == 200);
  TestCall off{.method = "POST", .path = kReset, .body = {{"ResetType", "On"}}, .headers = watch};
  RedfishReply reply = answer(state, off);
  CHECK(reply.response.status == 403);
  CHECK(message_id(reply) == "InsufficientPrivilege");
  CHECK(std::holds_alternative<std::monostate>(reply.change));
  auto close = [&](const char* id) {
    TestCall call{.method = "DELETE", .path = std::string(kSessions) + "/" + id, .headers = watch};
    return answer(state, call).response.status;
  };
  CHECK(close("7") == 403);
  CHECK(close("8") == 204);
}

TEST_CASE("the firmware inventory names each component and its version") {
  Json item =
      body_of(answer(test_state(), {.path = "/redfish/v1/UpdateService/FirmwareInventory/BIOS"}));
  CHECK(item["Version"] == "2.4.1");
  CHECK(item["Status"]["State"] == "Enabled");
}

}  // namespace
TEST_CASE("A1: the factory's password opens only its own account until it was changed") {
  BmcState state = test_state();
  state.accounts[1].change_required = true;
  RedfishReply login = answer(state, {.method = "POST",
                                      .path = kSessions,
                                      .body = {{"UserName", "admin"}, {"Password", "factory-1"}},
                                      .headers = {}});
  CHECK(login.response.status == 201);
  Json info = body_of(login)["@Message.ExtendedInfo"][0];
  CHECK(info["MessageId"] == "Base.1.13.PasswordChangeRequired");
  CHECK(info["MessageArgs"][0] == kAccount);
  for (const char* path : {"/redfish/v1/Systems/1", "/redfish/v1/AccountService/Accounts",
                           "/redfish/v1/UpdateService/FirmwareInventory"}) {
    RedfishReply gated = answer(state, {.path = path});
    CHECK(gated.response.status == 403);
    CHECK(message_id(gated) == "PasswordChangeRequired");
  }
  CHECK(body_of(answer(state, {.path = kAccount}))["PasswordChangeRequired"] == true);
  RedfishReply changed =
      answer(state, {.method = "PATCH", .path = kAccount, .body = {{"Password", "new-Secret.2"}}});
  CHECK(changed.response.status == 204);
  CHECK(std::get<SetAccount>(changed.change).password == "new-Secret.2");
  CHECK(answer(state, {.path = "/redfish/v1/"}).response.status == 200);
}

}  // namespace leasehold::simsite
