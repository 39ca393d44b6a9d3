#include "drivers/redfish/message.h"

#include <catch2/catch.hpp>

#include "drivers/redfish/collection.h"
#include "tests/unit/drivers/redfish/fake_bmc.h"

using namespace leasehold;
using namespace leasehold::redfish;

namespace {
std::vector<Message> messages_of(const std::string& text) {
  return extended_messages(parse_json(text).value());
}
}  // namespace

TEST_CASE("P1: ExtendedInfo as object, list, list of strings and null") {
  const std::string head = R"({"error":{"code":"Base.1.0.GeneralError","@Message.ExtendedInfo":)";
  for (std::string info :
       {R"({"MessageId":"Base.1.0.PropertyNotWritable","Message":"x"})",
        R"([{"MessageId":"Base.1.0.PropertyNotWritable","Message":"x"}])",
        R"(["Base.1.0.PropertyNotWritable"])", R"("Base.1.0.PropertyNotWritable")"}) {
    auto messages = messages_of(head + info + "}}");
    REQUIRE(messages.size() == 1);
    CHECK(messages[0].id == "PropertyNotWritable");
    CHECK(messages[0].is_failure());
  }
  auto nothing = messages_of(head + "null}}");
  REQUIRE(nothing.size() == 1);
  CHECK(nothing[0].id == "GeneralError");
}

TEST_CASE("P2: messages under a property's name, without an error") {
  auto messages = messages_of(
      R"({"UserName@Message.ExtendedInfo":[{"MessageId":"Base.1.4.0.ResourceAlreadyExists",)"
      R"("MessageArgs":["ManagerAccount","UserName","svc1"]}]})");
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].property == "UserName");
  CHECK(messages[0].is("resourcealreadyexists"));
  CHECK(messages[0].names("UserName"));
  CHECK_FALSE(messages[0].names("Password"));
}

TEST_CASE("P4: Success beside a refusal is a refusal") {
  auto messages =
      messages_of(R"({"@Message.ExtendedInfo":[{"MessageId":"Base.1.8.Success","Severity":"OK"},)"
                  R"({"MessageId":"Base.1.8.PropertyNotWritable","MessageSeverity":"Warning",)"
                  R"("RelatedProperties":["#/Boot/BootSourceOverrideMode"]}]})");
  REQUIRE(first_failure(messages) != nullptr);
  CHECK(first_failure(messages)->names("BootSourceOverrideMode"));
}

TEST_CASE("P5: only the last part of a MessageId counts, without case") {
  for (std::string id : {"Base.1.4.SessionLimitExceeded", "Base.v1_10_3.SessionLimitExceeded",
                         "IDRAC.2.9.sessionlimitexceeded", "SessionLimitExceeded"}) {
    CHECK(any_message(messages_of(error_body(id)), "SessionLimitExceeded"));
  }
  CHECK_FALSE(any_message(messages_of(error_body("Base.1.4.Other", "", "SessionLimitExceeded")),
                          "SessionLimitExceeded"));
}

TEST_CASE("information is no failure; BR-07's code without messages is one") {
  CHECK(first_failure(messages_of(R"({"@Message.ExtendedInfo":[{"MessageId":"IDRAC.2.8.SYS413",)"
                                  R"("Severity":"Informational"}]})")) == nullptr);
  auto messages =
      messages_of(R"({"error":{"code":"Base.1.18.PreconditionFailed","message":"ETag mismatch"}})");
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].id == "PreconditionFailed");
}

TEST_CASE("P6: a password that the BMC echoes is in no error text") {
  FakeBmc bmc;
  const std::string secret = "New-Secret.42";
  bmc.next("PATCH " + kAccount, 400,
           error_body("Base.1.8.PropertyValueFormatError", secret,
                      std::string(240, 'x') + " the value " + secret + " is too weak"));
  Status status = bmc.open()->set_password("root", secret);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == Code::kRefused);
  CHECK(status.error().text().find("New-S") == std::string::npos);
  CHECK(status.error().text().find("PropertyValueFormatError") != std::string::npos);
}

TEST_CASE("P6: an echoed token is in no error text either") {
  FakeBmc bmc;
  bmc.next("GET /redfish/v1/Systems", 400, error_body("Base.1.8.X", "", "bad token-1 here"));
  auto state = bmc.open()->power_state();
  CHECK(state.error().text().find("token-1") == std::string::npos);
}

TEST_CASE("P12: pages are followed, and must add up") {
  std::map<std::string, std::string> pages;
  std::vector<std::string> read;
  Getter get = [&](const std::string& path) -> Result<Reply> {
    read.push_back(path);
    if (pages.count(path) == 0) return Error(Code::kNotFound, path);
    Reply reply;
    reply.status = 200;
    reply.body = parse_json(pages[path]).value();
    reply.messages = extended_messages(reply.body);
    return reply;
  };
  pages["/c"] = R"({"Members":[{"@odata.id":"/c/1"}],"Members@odata.count":2,)"
                R"("Members@odata.nextLink":"https://other.test/c?$skip=1"})";
  pages["/c?$skip=1"] = R"({"Members":[{"@odata.id":"/c/2"}]})";
  auto collection = read_collection(get, "/c").value();
  CHECK(collection.complete);
  CHECK(collection.members.size() == 2);
  CHECK(read == std::vector<std::string>{"/c", "/c?$skip=1"});

  SECTION("a count that is larger than what is listed") {
    pages["/c?$skip=1"] = R"({"Members":[]})";
    CHECK_FALSE(read_collection(get, "/c").value().complete);
  }
  SECTION("a circle ends") {
    pages["/c?$skip=1"] = R"({"Members":[{"@odata.id":"/c/2"}],"Members@odata.nextLink":"/c"})";
    CHECK_FALSE(read_collection(get, "/c").value().complete);
    CHECK(read.size() == 4);
  }
  SECTION("a page that cannot be read") {
    pages.erase("/c?$skip=1");
    CHECK_FALSE(read_collection(get, "/c").value().complete);
  }
  SECTION("P3: members beside an error") {
    pages["/c?$skip=1"] = R"({"Members":[{"@odata.id":"/c/2"}],"error":{"code":"Base.1.8.X"}})";
    CHECK_FALSE(read_collection(get, "/c").value().complete);
  }
  SECTION("P7: Members null") {
    pages["/c"] = R"({"Members":null})";
    CHECK_FALSE(read_collection(get, "/c").value().complete);
  }
  SECTION("pages without end are left at the bound") {
    Getter endless = [&](const std::string& path) -> Result<Reply> {
      Reply reply;
      reply.body = {{"Members", Json::array()}, {"Members@odata.nextLink", path + "x"}};
      read.push_back(path);
      return reply;
    };
    read.clear();
    CHECK_FALSE(read_collection(endless, "/c").value().complete);
    CHECK(read.size() == static_cast<size_t>(limits::kBmcCollectionPages));
  }
}
