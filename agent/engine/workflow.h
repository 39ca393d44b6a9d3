// What a workflow is: a table of small steps that reads as the runbook, and what a step sees and
// says. A step observes first, acts only if needed, and returns one of five outcomes; running it
// twice is harmless, so recovery is "run it again". Steps run on threads of their own and see
// values and interfaces, never the database or the loop; what they change in rows they return.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/json.h"
#include "core/base/result.h"
#include "core/rows/row.h"

namespace leasehold {

// A broken assertion inside a step: fails this run with INTERNAL, never the site.
#define STEP_CHECK(condition, message)                                           \
  do {                                                                           \
    if (!(condition)) {                                                          \
      return ::leasehold::Error(                                                 \
          ::leasehold::Code::kInternal,                                          \
          std::string("law or check broken: ") + #condition + ": " + (message)); \
    }                                                                            \
  } while (false)

struct RunInfo {
  RunId id;
  NodeId node;
  LeaseId lease;           // empty if the run has none
  WorkId work;             // the row that asked for it
  std::string workflow;    // "name@version"
  int64_t generation = 0;  // in which the run began; evidence is judged against it
  int64_t started_ms = 0;
  int64_t deadline_ms = 0;  // of the whole run (work.deadline); 0: none
};

// The rows a step may look at: those of its node and run, and the policy, as of the commit that
// started the step; read anew each time the step runs again after a Poll or an Await.
class Snapshot {
 public:
  // The row, or null.
  const Json& get(const std::string& table, const std::string& key) const;
  // In order of key.
  std::vector<const Json*> all(const std::string& table) const;
  void put(const std::string& table, const std::string& key, Json row);

 private:
  std::map<std::string, std::map<std::string, Json>> tables_;
};

struct StepContext {
  RunInfo run;
  std::string place;
  int pass = 1;             // 1, or 2 after an Again
  int attempt = 1;          // rises with each restart of the agent
  int64_t started_ms = 0;   // when this attempt began
  int64_t deadline_ms = 0;  // when this attempt must have ended
  std::shared_ptr<const Snapshot> rows;
  // Of places done in this run, newest pass, by place name; lives while the step runs. Null: none.
  const std::map<std::string, Json>* outputs = nullptr;
  bool recovering = false;  // attempt > 1: an earlier one may have had its effect
  Clock* clock = nullptr;
  // What this attempt of the step remembers between its calls; lost with the process.
  std::shared_ptr<Json> memory;
  // What this attempt holds open from one Poll to the next (a BMC's session); the engine lets go of
  // it, on the step's thread, when the attempt ends. Null where nothing can be kept. Shared because
  // the engine does not know what it is.
  std::shared_ptr<void>* held = nullptr;

  // The output of an earlier place, or null.
  const Json& output(const std::string& place_name) const;
};

// The step is over. Rows, the journal's record and the outbox are committed in one transaction;
// then `notices` are handed out (sessions to close, doors to tell).
struct Done {
  Json output = Json::object();
  std::vector<RowChange> rows;
  std::vector<Json> notices;
};
// Not yet: run the step again after `every_ms`, for at most `within_ms` from its first start in
// this attempt; then it fails with `code`.
struct Poll {
  std::string why;
  int64_t every_ms = 1000;
  int64_t within_ms = 60'000;
  Code code = Code::kTimeout;
};
// Not yet: run the step again when `event` is posted for this run, at the latest each `recheck_ms`.
struct Await {
  std::string event;
  std::string why;
  int64_t within_ms = 60'000;
  Code code = Code::kTimeout;
  int64_t recheck_ms = 30'000;
};
// Back to an earlier place of the table (or this one), in a new pass; once per run, a second one is
// INTERNAL, and so is one from a cleanup place.
struct Again {
  std::string from;
  std::string why;
};
using StepOutcome = std::variant<Done, Poll, Await, Again, Error>;

struct Place {
  std::string name;   // unique in its workflow, cleanup included: "metal.rotateBmcCredential/seal"
  std::string group;  // the spec's step: "3"
  std::string title;  // the spec's words: "metal.rotateBmcCredential"
  // Of one attempt: no Poll or Await goes on after it. A step that returns Done is believed however
  // late it is, because what it says is what the machine shows.
  int64_t deadline_ms = 60'000;
  std::function<StepOutcome(StepContext&)> run;
};

struct Workflow {
  std::string name;  // "metal-tenant-root-release@1"
  // How what it works on stands when it begins, in the words of whoever made the table. The engine
  // does not read it: the first place does, and a test that must make such a beginning.
  std::string begins_with;
  std::vector<Place> places;
  std::vector<Place> cleanup;  // run whatever happened, after the places
  // Rows of the end: committed with the journal's last record. They run on a step's thread too,
  // with rows read anew, and possibly twice. An error from `succeed` makes the run fail with it.
  std::function<Result<Done>(StepContext&)> succeed;
  // Committed together with the journal's record of the failure, before the cleanup.
  std::function<Done(StepContext&, const Error&)> fail;
};

}  // namespace leasehold
