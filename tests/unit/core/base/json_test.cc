// The traps of JSON that are known: each is refused, or survived.
#include "core/base/json.h"

#include <catch2/catch.hpp>

using namespace leasehold;

TEST_CASE("parse_json refuses what two readers could read differently") {
  CHECK(parse_json(R"({"a":1,"b":2})").ok());
  CHECK(parse_json(R"({"a":1,"a":2})").error().code == Code::kMalformed);
  CHECK(parse_json(R"({"a":{"b":1,"b":1}})").error().code == Code::kMalformed);
  CHECK(parse_json(R"([{"a":1},{"a":1}])").ok());
  for (const char* text : {"", "{", "[1,]", "nul", "{\"a\":1}x", "\"\xff\"", "01", "1e", "'a'"}) {
    INFO(text);
    CHECK(parse_json(text).error().code == Code::kMalformed);
  }
}

TEST_CASE("parse_json bounds depth and size") {
  auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(parse_json(nested(limits::kJsonDepth)).ok());
  CHECK(parse_json(nested(limits::kJsonDepth + 1)).error().code == Code::kMalformed);
  CHECK(parse_json(std::string(100'000, '[')).error().code == Code::kMalformed);
  CHECK(parse_json("[1,2,3]", 6).error().code == Code::kTooLarge);
  CHECK(parse_json("[1,2,3]", 7).ok());
}

TEST_CASE("canonical_json is compact, sorted, of integers and UTF-8") {
  CHECK(canonical_json(Json{{"b", 1}, {"a", {1, 2}}}).value() == R"({"a":[1,2],"b":1})");
  CHECK(canonical_json(Json{{"a", {{"deep", 1.5}}}}).error().code == Code::kMalformed);
  CHECK(canonical_json(Json("\xff")).error().code == Code::kMalformed);
  CHECK(dump_json(Json("\xff")) == "\"\xef\xbf\xbd\"");
}

TEST_CASE("readers name the field that is wrong") {
  Json object = {{"text", "x"}, {"number", 7}, {"big", UINT64_MAX}, {"null", nullptr}};
  CHECK(json_string(object, "text").value() == "x");
  CHECK(json_string(object, "number").error().field == "number");
  CHECK(json_int(object, "absent").error().field == "absent");
  CHECK(json_int(object, "big").error().code == Code::kInvalidInput);
  CHECK(json_int_or(object, "null", 5).value() == 5);
  CHECK(json_int_or(object, "text", 5).error().field == "text");
  CHECK(json_text(Json(3), "x").empty());
}

TEST_CASE("an unknown key is refused with the nearest one") {
  Status refused = check_keys(Json{{"vault_keyfile", 1}}, {"state_dir", "vault_key_file"}, "it");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("did you mean \"vault_key_file\"") != std::string::npos);
  CHECK(check_keys(Json{{"state_dir", 1}}, {"state_dir"}, "it").ok());
  CHECK_FALSE(check_keys(Json::array(), {"a"}, "it").ok());
}
