// What a run's journal says and means, as pure functions: apply() decides which record may follow
// which and what the run is after it; next() decides what is to be done. Nothing else in the engine
// decides either, so that a run and its recovery can never disagree. Values only, any thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "agent/engine/workflow.h"

namespace leasehold {

enum class JournalKind {
  kOpened,    // body: the RunInfo
  kStarted,   // a place's attempt begins; body: {"cleanup": bool}
  kDone,      // body: {"output": ...}
  kAgain,     // body: {"from", "why"}; the next pass begins
  kFailed,    // of the place in progress, or of none (place ""); body: {"code", "message", "field"}
  kCrashed,   // the process died by its own fault while a step was at work; body: {"life"}
  kFinished,  // body: {"state": "succeeded" | "failed"}
};
std::string_view journal_kind_name(JournalKind kind);
std::optional<JournalKind> journal_kind_from(std::string_view name);

struct JournalRecord {
  RunId run;
  int pass = 1;
  std::string place;
  int attempt = 0;
  JournalKind kind = JournalKind::kOpened;
  int64_t at_ms = 0;
  Json body = Json::object();
};

Json run_info_json(const RunInfo& run);
Result<RunInfo> run_info_from(const RunId& run, const Json& body);
Json error_json(const Error& error);

enum class RunPhase { kNew, kPlaces, kCleanup, kFinished };

struct RunState {
  RunInfo run;
  RunPhase phase = RunPhase::kNew;
  int pass = 1;
  int agains = 0;
  // The place started last, and whether it is still to be done.
  std::string place;
  int attempt = 0;
  bool in_progress = false;
  int64_t place_started_ms = 0;
  std::string settled;  // the last place of this phase that is over; "" at its beginning
  std::string resume;   // where an Again leads, until that place is started
  std::map<std::string, Json> outputs;
  std::optional<Error> error;  // the first failure; later ones never replace it
  std::set<std::string> crashes;
  int64_t finished_ms = 0;
};

// The run after this record. DATABASE if no run can have written it here.
Result<RunState> apply(RunState state, const JournalRecord& record);

struct NextStep {
  enum class Kind {
    kStart,         // `place`, with `attempt`
    kSucceed,       // everything is done and cleaned up
    kFinishFailed,  // it failed and is cleaned up
    kUnknownPlace,  // the journal names a place that this workflow does not have
    kNothing,       // the run is finished
  };
  Kind kind = Kind::kNothing;
  const Place* place = nullptr;
  bool cleanup = false;
  int attempt = 1;
};
NextStep next(const RunState& state, const Workflow& workflow);

// The place, and its number in its list counted from 1; null and 0 if the workflow has none such.
struct PlaceAt {
  const Place* place = nullptr;
  int number = 0;
  bool cleanup = false;
};
PlaceAt find_place(const Workflow& workflow, const std::string& name);

}  // namespace leasehold
