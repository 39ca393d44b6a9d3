#include "simsite/faults.h"

#include <algorithm>

#include "core/base/log.h"
#include "simsite/limits.h"

namespace leasehold::simsite {
namespace {

struct OnName {
  FaultOn on;
  const char* name;
};
constexpr OnName kOnNames[] = {{FaultOn::kBmc, "bmc"},
                               {FaultOn::kBoot, "boot"},
                               {FaultOn::kTool, "tool"},
                               {FaultOn::kMachine, "machine"}};

// Which actions a rule on something may take. One action has two names where two are natural.
struct ActionName {
  FaultAction action;
  const char* name;
  std::vector<FaultOn> on;
  Json args = Json::object();  // what the name alone implies
};
const std::vector<ActionName>& action_names() {
  constexpr FaultOn kBmc = FaultOn::kBmc;
  constexpr FaultOn kBoot = FaultOn::kBoot;
  constexpr FaultOn kTool = FaultOn::kTool;
  constexpr FaultOn kMachine = FaultOn::kMachine;
  static const std::vector<ActionName> kNames = {
      {FaultAction::kStatus, "status", {kBmc, kTool}},
      {FaultAction::kDrop, "drop", {kBmc, kTool}},
      {FaultAction::kReset, "reset", {kBmc}},
      {FaultAction::kHang, "hang", {kBmc, kTool}},
      {FaultAction::kLatency, "latency", {kBmc, kBoot, kTool}},
      {FaultAction::kLie, "lie", {kBmc, kTool}},
      {FaultAction::kLie, "ignore-then-ok", {kBmc}},
      {FaultAction::kLie, "format-lies", {kTool}},
      {FaultAction::kLie, "skip", {kTool}, {{"status", "Skip"}}},
      {FaultAction::kLie, "fail", {kTool}, {{"status", "Fail"}}},
      {FaultAction::kMerge, "merge", {kBmc}},
      {FaultAction::kApplyWithoutReply, "apply-without-reply", {kBmc, kTool}},
      {FaultAction::kApplyThenStatus, "apply-then-status", {kBmc, kTool}},
      {FaultAction::kLockout, "lockout", {kBmc}},
      {FaultAction::kNoBoot, "no-boot", {kBoot, kMachine}},
      {FaultAction::kBootsDisk, "boots-disk", {kBoot, kMachine}},
      {FaultAction::kKeepsOverride, "keeps-override", {kMachine}},
      {FaultAction::kDies, "dies", {kTool, kMachine}},
  };
  return kNames;
}

Result<FaultOn> parse_on(const std::string& text) {
  for (const OnName& entry : kOnNames) {
    if (text == entry.name) return entry.on;
  }
  return Error(Code::kInvalidInput, "\"on\" must be bmc, boot, tool or machine", "on");
}

Result<const ActionName*> parse_action(FaultOn on, const std::string& text) {
  std::string allowed;
  for (const ActionName& entry : action_names()) {
    if (std::find(entry.on.begin(), entry.on.end(), on) == entry.on.end()) continue;
    if (text == entry.name) return &entry;
    allowed += (allowed.empty() ? "" : ", ") + std::string(entry.name);
  }
  return Error(Code::kInvalidInput,
               "\"action\" on " + std::string(fault_on_name(on)) + " must be one of " + allowed,
               "action");
}

// Every member of `wanted` is in `body` with that value.
bool has_members(const Json& body, const Json& wanted) {
  if (wanted.is_null()) return true;
  if (!wanted.is_object()) return body == wanted;
  for (const auto& [key, value] : wanted.items()) {
    if (!has_members(json_member(body, key), value)) return false;
  }
  return true;
}

bool selects(const FaultRule& rule, const FaultSubject& subject) {
  bool needs_change = rule.action == FaultAction::kLie ||
                      rule.action == FaultAction::kApplyWithoutReply ||
                      rule.action == FaultAction::kApplyThenStatus;
  bool asked = subject.actions.empty() || std::find(subject.actions.begin(), subject.actions.end(),
                                                    rule.action) != subject.actions.end();
  return asked && rule.on == subject.on && (rule.method.empty() || rule.method == subject.method) &&
         glob_matches(rule.path, subject.path) && has_members(subject.body, rule.body) &&
         (!needs_change || subject.changes);
}

bool used_up(const FaultRule& rule) { return rule.count >= 0 && rule.hits >= rule.count; }

Status check_args(const FaultRule& rule) {
  if (!rule.args.is_object()) {
    return Error(Code::kInvalidInput, "\"args\" must be an object", "args");
  }
  if (rule.action == FaultAction::kLatency) {
    int64_t ms = TRY(json_int(rule.args, "ms"));
    if (ms < 0) return Error(Code::kInvalidInput, "\"ms\" must not be negative", "args.ms");
  }
  if (rule.on == FaultOn::kBmc &&
      (rule.action == FaultAction::kStatus || rule.action == FaultAction::kApplyThenStatus)) {
    int64_t code = TRY(json_int(rule.args, "code"));
    if (code < 200 || code > 599) {
      return Error(Code::kInvalidInput, "\"code\" must be an HTTP status", "args.code");
    }
  }
  return {};
}

}  // namespace

std::string_view fault_on_name(FaultOn on) {
  for (const OnName& entry : kOnNames) {
    if (entry.on == on) return entry.name;
  }
  return "";
}

Result<FaultRule> parse_fault_rule(const Json& json) {
  TRY(check_keys(json, {"id", "on", "method", "path", "body", "action", "args", "after", "count"},
                 "a fault rule"));
  FaultRule rule;
  rule.id = TRY(json_string(json, "id"));
  if (!is_file_name(rule.id)) {
    return Error(Code::kInvalidInput, "a rule's id is letters, digits, '-', '_' and '.'", "id");
  }
  rule.on = TRY(parse_on(TRY(json_string(json, "on"))));
  rule.method = TRY(json_string_or(json, "method", ""));
  rule.path = TRY(json_string_or(json, "path", "*"));
  rule.body = json_member(json, "body");
  rule.action_name = TRY(json_string(json, "action"));
  const ActionName* action = TRY(parse_action(rule.on, rule.action_name));
  rule.action = action->action;
  rule.args = json_member(json, "args").is_null() ? Json::object() : json_member(json, "args");
  rule.after = TRY(json_int_or(json, "after", 0));
  rule.count = TRY(json_int_or(json, "count", 1));
  if (rule.after < 0 || rule.count < -1) {
    return Error(Code::kInvalidInput, "\"after\" is 0 or more, \"count\" is -1 or more", "count");
  }
  TRY(check_args(rule));
  rule.args.merge_patch(action->args);
  return rule;
}

Json fault_rule_json(const FaultRule& rule) {
  Json json = {{"id", rule.id},       {"on", fault_on_name(rule.on)},
               {"path", rule.path},   {"action", rule.action_name},
               {"args", rule.args},   {"after", rule.after},
               {"count", rule.count}, {"hits", rule.hits}};
  if (!rule.method.empty()) json["method"] = rule.method;
  if (!rule.body.is_null()) json["body"] = rule.body;
  return json;
}

bool glob_matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*') {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Status FaultRules::add(FaultRule rule) {
  if (rules_.size() >= kFaultsPerMachine) {
    return Error(Code::kTooLarge,
                 "a machine has at most " + std::to_string(kFaultsPerMachine) + " fault rules");
  }
  for (const FaultRule& other : rules_) {
    if (other.id == rule.id) {
      return Error(Code::kConflict, "there is a fault rule \"" + rule.id + "\" already", "id");
    }
  }
  rules_.push_back(std::move(rule));
  return {};
}

FaultPlan FaultRules::match(const FaultSubject& subject, const std::string& machine) {
  FaultPlan plan;
  for (FaultRule& rule : rules_) {
    if (used_up(rule) || rule.action == FaultAction::kLockout || !selects(rule, subject)) continue;
    bool gentle = rule.action == FaultAction::kLatency || rule.action == FaultAction::kMerge;
    if (plan.spoiled && !gentle) continue;
    if (rule.matches++ < rule.after) continue;
    ++rule.hits;
    log_line(LogEvent::kFaultHit, {{"machine", machine},
                                   {"rule", rule.id},
                                   {"hit", rule.hits},
                                   {"method", subject.method},
                                   {"path", subject.path}});
    if (rule.action == FaultAction::kLatency) {
      plan.latency_ms += json_int_or(rule.args, "ms", 0).value_or(0);
    } else if (rule.action == FaultAction::kMerge) {
      plan.merges.push_back(rule.args);
    } else {
      plan.spoiled = true;
      plan.action = rule.action;
      plan.args = rule.args;
    }
  }
  return plan;
}

FaultRule* FaultRules::standing(FaultOn on, FaultAction action) {
  for (FaultRule& rule : rules_) {
    if (rule.on == on && rule.action == action && !used_up(rule)) return &rule;
  }
  return nullptr;
}

}  // namespace leasehold::simsite
