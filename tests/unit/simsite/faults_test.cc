#include "simsite/faults.h"

#include <catch2/catch.hpp>

namespace leasehold::simsite {
namespace {

FaultRule rule(Json json) {
  Json whole = {{"id", "r"}, {"on", "bmc"}, {"action", "drop"}};
  whole.merge_patch(json);
  return parse_fault_rule(whole).value();
}

FaultPlan match(FaultRules& rules, const std::string& method, const std::string& path,
                const Json& body = nullptr, bool changes = true) {
  return rules.match({FaultOn::kBmc, method, path, body, changes, {}}, "m1");
}

TEST_CASE("a glob matches runs and single characters") {
  CHECK(glob_matches("*", ""));
  CHECK(glob_matches("/redfish/v1/Systems/*/Actions/*",
                     "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset"));
  CHECK(glob_matches("/a?c*", "/abc/d"));
  CHECK(glob_matches("*b*b", "abcbdb"));
  CHECK_FALSE(glob_matches("/redfish/v1/Systems/*/Actions/*", "/redfish/v1/Systems/1"));
  CHECK_FALSE(glob_matches("a?", "a"));
  CHECK_FALSE(glob_matches("", "a"));
}

TEST_CASE("a rule lets the first matches pass, then spoils its count, then is over") {
  FaultRules rules;
  REQUIRE(rules.add(rule({{"method", "POST"}, {"after", 1}, {"count", 2}})).ok());
  CHECK_FALSE(match(rules, "GET", "/x").spoiled);  // another method does not count
  std::vector<bool> spoiled;
  for (int i = 0; i < 5; ++i) spoiled.push_back(match(rules, "POST", "/x").spoiled);
  CHECK(spoiled == std::vector<bool>{false, true, true, false, false});
  CHECK(rules.all()[0].hits == 2);
}

TEST_CASE("count -1 is for ever") {
  FaultRules rules;
  REQUIRE(rules.add(rule({{"count", -1}})).ok());
  for (int i = 0; i < 10; ++i) CHECK(match(rules, "GET", "/x").spoiled);
  CHECK(rules.all()[0].hits == 10);
}

TEST_CASE("a rule may select by the members of the body") {
  FaultRules rules;
  REQUIRE(rules.add(rule({{"body", {{"ResetType", "ForceOff"}}}})).ok());
  CHECK_FALSE(match(rules, "POST", "/x", {{"ResetType", "On"}}).spoiled);
  CHECK_FALSE(match(rules, "POST", "/x").spoiled);
  CHECK(match(rules, "POST", "/x", {{"ResetType", "ForceOff"}, {"more", 1}}).spoiled);
}

TEST_CASE("lies pass by what would change nothing") {
  FaultRules rules;
  REQUIRE(rules.add(rule({{"action", "ignore-then-ok"}})).ok());
  CHECK_FALSE(match(rules, "GET", "/x", nullptr, false).spoiled);
  CHECK(rules.all()[0].hits == 0);
  FaultPlan plan = match(rules, "PATCH", "/x");
  CHECK(plan.spoiled);
  CHECK(plan.action == FaultAction::kLie);
}

TEST_CASE("latencies add up, merges pile up, the first other action wins") {
  FaultRules rules;
  REQUIRE(rules.add(rule({{"id", "a"}, {"action", "latency"}, {"args", {{"ms", 20}}}})).ok());
  REQUIRE(rules.add(rule({{"id", "b"}, {"action", "status"}, {"args", {{"code", 503}}}})).ok());
  REQUIRE(rules.add(rule({{"id", "c"}})).ok());
  REQUIRE(rules.add(rule({{"id", "d"}, {"action", "merge"}, {"args", {{"x", 1}}}})).ok());
  REQUIRE(rules.add(rule({{"id", "e"}, {"action", "latency"}, {"args", {{"ms", 5}}}})).ok());
  FaultPlan plan = match(rules, "GET", "/x");
  CHECK(plan.latency_ms == 25);
  CHECK(plan.action == FaultAction::kStatus);
  CHECK(plan.args["code"] == 503);
  CHECK(plan.merges.size() == 1);
  CHECK(rules.all()[2].hits == 0);
  CHECK(match(rules, "GET", "/x").action == FaultAction::kDrop);
}

TEST_CASE("a rule that makes no sense is refused with the field") {
  auto field = [](Json json) {
    Json whole = {{"id", "r"}, {"on", "bmc"}, {"action", "drop"}};
    whole.merge_patch(json);
    Result<FaultRule> parsed = parse_fault_rule(whole);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.error().code == Code::kInvalidInput);
    return parsed.error().field;
  };
  CHECK(field({{"on", "bmcc"}}) == "on");
  CHECK(field({{"action", "dies"}}) == "action");  // not on a BMC
  CHECK(field({{"on", "machine"}, {"action", "drop"}}) == "action");
  CHECK(field({{"cuont", 3}}) == "cuont");
  CHECK(field({{"action", "latency"}}) == "ms");
  CHECK(field({{"action", "status"}, {"args", {{"code", 99}}}}) == "args.code");
  CHECK(field({{"count", -2}}) == "count");
  CHECK(field({{"id", "a/b"}}) == "id");
}

TEST_CASE("ids are unique and the number of rules is bounded") {
  FaultRules rules;
  for (int i = 0; i < 256; ++i) REQUIRE(rules.add(rule({{"id", std::to_string(i)}})).ok());
  CHECK(rules.add(rule({{"id", "one-more"}})).error().code == Code::kTooLarge);
  rules.clear();
  REQUIRE(rules.add(rule({{"id", "a"}})).ok());
  CHECK(rules.add(rule({{"id", "a"}})).error().code == Code::kConflict);
}

TEST_CASE("a rule is shown as it was given, with its hits") {
  Json json = {{"id", "F11"},      {"on", "tool"},           {"method", "diag"}, {"path", "*"},
               {"action", "skip"}, {"args", Json::object()}, {"after", 0},       {"count", -1}};
  Json shown = fault_rule_json(parse_fault_rule(json).value());
  CHECK(shown["action"] == "skip");
  CHECK(shown["args"]["status"] == "Skip");
  CHECK(shown["hits"] == 0);
}

}  // namespace
}  // namespace leasehold::simsite
