#include "drivers/redfish/etag.h"

#include <catch2/catch.hpp>

#include "tests/unit/drivers/redfish/fake_bmc.h"

using namespace leasehold;
using namespace leasehold::redfish;

namespace {

std::vector<std::string> values(const std::string& header, const std::string& body) {
  std::vector<std::string> out;
  for (const IfMatchRung& rung : if_match_ladder(header, body)) out.push_back(rung.value);
  return out;
}

// What each PATCH of the log said in If-Match; "-" for none.
std::vector<std::string> sent_tags(const FakeBmc& bmc) {
  std::vector<std::string> tags;
  for (const HttpRequest& request : bmc.requests) {
    if (request.method != "PATCH") continue;
    std::string tag = header_value(request.headers, "If-Match");
    tags.push_back(tag.empty() ? "-" : tag);
  }
  return tags;
}

const BootOverride kPxeOnce{BootSourceOverrideTarget::kPxe, BootSourceOverrideEnabled::kOnce};

// Sets the boot override on a BMC that accepts only this If-Match ("-": none at all).
std::vector<std::string> climb(FakeBmc& bmc, const std::string& accepted) {
  bmc.accepts_tag = [accepted](const HttpRequest& request) {
    std::string tag = header_value(request.headers, "If-Match");
    return (tag.empty() ? "-" : tag) == accepted;
  };
  CHECK(bmc.open()->set_boot_override(kPxeOnce).ok());
  return sent_tags(bmc);
}

}  // namespace

TEST_CASE("the ladder has each form once and at most five") {
  CHECK(values("W/\"1-gzip\"", "\"2\"") ==
        std::vector<std::string>{"W/\"1-gzip\"", "\"2\"", "\"1\"", "*", ""});
  CHECK(values("\"1\"", "\"1\"") == std::vector<std::string>{"\"1\"", "1", "*", ""});
  CHECK(values("", "") == std::vector<std::string>{"", "*"});
  CHECK(values("", "\"b\"") == std::vector<std::string>{"\"b\"", "b", "*", ""});
}

TEST_CASE("E1: a weak tag is also tried strong") {
  FakeBmc bmc;
  bmc.etags[kSystem] = "W/\"7\"";
  CHECK(climb(bmc, "\"7\"") == std::vector<std::string>{"W/\"7\"", "7", "\"7\""});
}

TEST_CASE("E3: an empty ETag is none") {
  for (std::string empty : {"", "  ", "\"\""}) {
    FakeBmc bmc;
    bmc.etags[kSystem] = empty;
    CHECK(climb(bmc, "-") == std::vector<std::string>{"-"});
  }
}

TEST_CASE("E4, BR-06: the quotes are not part of the value") {
  FakeBmc bmc;
  bmc.etags[kSystem] = "\"1A2B\"";
  bmc.resources[kSystem]["@odata.etag"] = "\"1A2B\"";
  CHECK(climb(bmc, "1A2B") == std::vector<std::string>{"\"1A2B\"", "1A2B"});
}

TEST_CASE("E5: httpd's suffix") {
  FakeBmc bmc;
  bmc.etags[kSystem] = "\"abc-gzip\"";
  CHECK(climb(bmc, "\"abc\"").back() == "\"abc\"");
}

TEST_CASE("E6: an action carries no If-Match") {
  FakeBmc bmc;
  bmc.etags[kSystem] = "\"7\"";
  REQUIRE(bmc.open()->reset(ResetType::kForceOff).ok());
  CHECK(header_value(bmc.last("POST " + kReset).headers, "If-Match").empty());
}

TEST_CASE("E7: a BMC that demands If-Match gets the tag of the account") {
  FakeBmc bmc;
  bmc.etags[kAccount] = "\"acc\"";
  bmc.refused_tag_status = 428;
  bmc.accepts_tag = [](const HttpRequest& request) {
    return header_value(request.headers, "If-Match") == "\"acc\"";
  };
  CHECK(bmc.open()->set_password("root", "new-Secret.2").ok());
  CHECK(sent_tags(bmc) == std::vector<std::string>{"\"acc\""});
}

TEST_CASE("E8: only * is accepted; and without a tag it follows a 428") {
  FakeBmc bmc;
  bmc.etags[kSystem] = "\"7\"";
  CHECK(climb(bmc, "*") == std::vector<std::string>{"\"7\"", "7", "*"});
  FakeBmc without;
  without.refused_tag_status = 428;
  CHECK(climb(without, "*") == std::vector<std::string>{"-", "*"});
}

TEST_CASE("E10: any If-Match is refused; what won is sent first the next time") {
  FakeBmc bmc;
  bmc.etags[kSystem] = "\"7\"";
  bmc.accepts_tag = [](const HttpRequest& request) {
    return header_value(request.headers, "If-Match").empty();
  };
  auto driver = bmc.open();
  REQUIRE(driver->set_boot_override(kPxeOnce).ok());
  CHECK(sent_tags(bmc) == std::vector<std::string>{"\"7\"", "7", "*", "-"});
  REQUIRE(driver->set_boot_override(kPxeOnce).ok());
  CHECK(sent_tags(bmc).size() == 5);
  CHECK(sent_tags(bmc).back() == "-");
}

TEST_CASE("BR-09: no form is accepted: the ladder ends, once, without the last after a 428") {
  FakeBmc bmc;
  bmc.etags[kSystem] = "W/\"1682532272\"";
  bmc.refused_tag_status = 428;
  bmc.accepts_tag = [](const HttpRequest&) { return false; };
  CHECK(bmc.open()->set_boot_override(kPxeOnce).error().code == Code::kConflict);
  CHECK(sent_tags(bmc) ==
        std::vector<std::string>{"W/\"1682532272\"", "1682532272", "\"1682532272\"", "*"});
}

TEST_CASE("only 412 and 428 climb the ladder") {
  FakeBmc bmc;
  bmc.etags[kAccount] = "\"7\"";
  bmc.next("PATCH " + kAccount, 500, "");
  CHECK(bmc.open()->set_password("root", "new-Secret.2").error().code == Code::kTimeout);
  CHECK(sent_tags(bmc).size() == 1);
}
