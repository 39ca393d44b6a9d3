// Fault rules: which call of the world misbehaves, how, and how often. A rule is a selector (on,
// method, path glob, members of the body), an action with args, `after` matches to let pass and a
// count of matches to spoil (-1: for ever). Every hit is counted. One FaultRules per machine, owned
// by it, used on the loop's thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"

namespace leasehold::simsite {

enum class FaultOn { kBmc, kBoot, kTool, kMachine };

enum class FaultAction {
  kStatus,             // answer args.code at once (args.echo: with the request's body); a tool
                       // exits with it
  kDrop,               // close without an answer
  kReset,              // the same with RST
  kHang,               // never answer
  kLatency,            // answer args.ms later
  kLie,                // answer as if done, apply nothing (or part of it)
  kMerge,              // RFC 7386: args is merged into the answer's body
  kApplyWithoutReply,  // apply, then close
  kApplyThenStatus,    // apply, then answer args.code
  kLockout,            // a standing rule: args.after failed logins lock for args.seconds
  kNoBoot,             // firmware stops before it boots anything
  kBootsDisk,          // firmware ignores the boot override
  kKeepsOverride,      // firmware boots by an override for once, and leaves it in force
  kDies,               // the machine halts, args.after_ms into the ramdisk or at a tool
};

std::string_view fault_on_name(FaultOn on);

struct FaultRule {
  std::string id;
  FaultOn on = FaultOn::kBmc;
  std::string method;      // empty: any; for a tool its verb ("format", "diag")
  std::string path = "*";  // glob; for a tool its command line, for the boot the script's URL
  Json body;               // members the request's body must have; null: any body
  FaultAction action = FaultAction::kStatus;
  std::string action_name;  // as it was given
  Json args = Json::object();
  int64_t after = 0;
  int64_t count = 1;
  int64_t matches = 0;  // let pass and spoiled together
  int64_t hits = 0;
};

// INVALID_INPUT naming the field; an unknown action is refused with the list of this `on`.
Result<FaultRule> parse_fault_rule(const Json& json);
Json fault_rule_json(const FaultRule& rule);

// '*' matches any run of characters, '?' one.
bool glob_matches(std::string_view pattern, std::string_view text);

// What a rule is matched against.
struct FaultSubject {
  FaultOn on = FaultOn::kBmc;
  std::string method;
  std::string path;
  Json body;
  bool changes = true;               // false: lies and apply-… rules pass it by
  std::vector<FaultAction> actions;  // only these; empty: any
};

// Everything that the rules do to one call.
struct FaultPlan {
  int64_t latency_ms = 0;
  std::vector<Json> merges;
  bool spoiled = false;  // `action` and `args` hold
  FaultAction action = FaultAction::kStatus;
  Json args = Json::object();
};

class FaultRules {
 public:
  // CONFLICT if the id is taken, TOO_LARGE over kFaultsPerMachine.
  Status add(FaultRule rule);
  void clear() { rules_.clear(); }
  // Counts and logs the hits. Latencies add up, merges pile up, the first other action wins.
  FaultPlan match(const FaultSubject& subject, const std::string& machine);
  // The first rule of this kind whose count is not used up, without a hit; or null.
  FaultRule* standing(FaultOn on, FaultAction action);
  const std::vector<FaultRule>& all() const { return rules_; }

 private:
  std::vector<FaultRule> rules_;
};

}  // namespace leasehold::simsite
