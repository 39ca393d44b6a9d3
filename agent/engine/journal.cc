#include "agent/engine/journal.h"

#include <array>

#include "core/base/limits.h"
#include "core/base/log.h"

namespace leasehold {
namespace {

constexpr std::array<std::string_view, 7> kKindNames = {"opened", "started", "done",    "again",
                                                        "failed", "crashed", "finished"};

Error impossible(const JournalRecord& record, const std::string& why) {
  return Error(Code::kDatabase, "the journal of run " + record.run.str() + " holds \"" +
                                    std::string(journal_kind_name(record.kind)) + "\" of place \"" +
                                    record.place + "\" where it cannot be: " + why);
}

// The record that ends an attempt must name the attempt that is in progress.
Status check_in_progress(const RunState& state, const JournalRecord& record) {
  if (!state.in_progress) return impossible(record, "nothing is in progress");
  if (record.place != state.place || record.pass != state.pass || record.attempt != state.attempt) {
    return impossible(record, "another attempt is in progress");
  }
  return {};
}

Status apply_opened(RunState& state, const JournalRecord& record) {
  if (state.phase != RunPhase::kNew) return impossible(record, "the run is open already");
  state.run = TRY(run_info_from(record.run, record.body));
  state.phase = RunPhase::kPlaces;
  return {};
}

Status apply_started(RunState& state, const JournalRecord& record) {
  bool cleanup = json_member(record.body, "cleanup") == Json(true);
  if (record.pass != state.pass) return impossible(record, "it is of another pass");
  if (state.in_progress) {
    if (record.place != state.place || cleanup != (state.phase == RunPhase::kCleanup)) {
      return impossible(record, "another place is in progress");
    }
    if (record.attempt != state.attempt + 1) return impossible(record, "attempts rise by one");
  } else {
    if (record.attempt != 1) return impossible(record, "the first attempt is 1");
    if (!cleanup && state.phase == RunPhase::kCleanup) {
      return impossible(record, "the cleanup has begun");
    }
    if (cleanup && state.phase == RunPhase::kPlaces) state.settled.clear();
  }
  if (!state.resume.empty() && (cleanup || record.place != state.resume)) {
    return impossible(record, "the run goes back to \"" + state.resume + "\"");
  }
  if (cleanup) state.phase = RunPhase::kCleanup;
  state.resume.clear();
  state.place = record.place;
  state.attempt = record.attempt;
  state.in_progress = true;
  state.place_started_ms = record.at_ms;
  return {};
}

Status apply_done(RunState& state, const JournalRecord& record) {
  TRY(check_in_progress(state, record));
  state.in_progress = false;
  state.settled = state.place;
  state.outputs[state.place] = json_member(record.body, "output");
  return {};
}

Status apply_again(RunState& state, const JournalRecord& record) {
  TRY(check_in_progress(state, record));
  if (state.phase != RunPhase::kPlaces) return impossible(record, "the cleanup has begun");
  if (state.agains >= limits::kAgainPerRun) return impossible(record, "it went back before");
  state.in_progress = false;
  state.resume = json_text(record.body, "from");
  if (state.resume.empty()) return impossible(record, "it does not say where to");
  ++state.agains;
  ++state.pass;
  return {};
}

Status apply_failed(RunState& state, const JournalRecord& record) {
  if (!record.place.empty() || state.in_progress) TRY(check_in_progress(state, record));
  std::optional<Code> code = code_from_name(json_text(record.body, "code"));
  if (!code) return impossible(record, "its code is not one");
  if (!state.error) {
    state.error = Error(*code, json_text(record.body, "message"), json_text(record.body, "field"));
  }
  if (state.phase == RunPhase::kPlaces) {
    state.phase = RunPhase::kCleanup;
    state.settled.clear();
  } else if (state.in_progress) {
    state.settled = state.place;
  }
  state.resume.clear();
  state.in_progress = false;
  return {};
}

Status apply_finished(RunState& state, const JournalRecord& record) {
  if (state.in_progress) return impossible(record, "a place is in progress");
  std::string outcome = json_text(record.body, "state");
  if (outcome != (state.error ? "failed" : "succeeded")) {
    return impossible(record, "it says \"" + outcome + "\"");
  }
  state.phase = RunPhase::kFinished;
  state.finished_ms = record.at_ms;
  return {};
}

NextStep start_first(const std::vector<Place>& places, size_t index, bool cleanup) {
  return {NextStep::Kind::kStart, &places[index], cleanup, 1};
}

}  // namespace

std::string_view journal_kind_name(JournalKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

std::optional<JournalKind> journal_kind_from(std::string_view name) {
  for (size_t i = 0; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == name) return static_cast<JournalKind>(i);
  }
  return std::nullopt;
}

Json run_info_json(const RunInfo& run) {
  return {{"node", run.node.str()},        {"lease", run.lease.str()},
          {"work", run.work.str()},        {"workflow", run.workflow},
          {"generation", run.generation},  {"started_ms", run.started_ms},
          {"deadline_ms", run.deadline_ms}};
}

Result<RunInfo> run_info_from(const RunId& run, const Json& body) {
  RunInfo info;
  info.id = run;
  info.node = NodeId(TRY(json_string(body, "node")));
  info.lease = LeaseId(TRY(json_string(body, "lease")));
  info.work = WorkId(TRY(json_string(body, "work")));
  info.workflow = TRY(json_string(body, "workflow"));
  info.generation = TRY(json_int(body, "generation"));
  info.started_ms = TRY(json_int(body, "started_ms"));
  info.deadline_ms = TRY(json_int(body, "deadline_ms"));
  return info;
}

Json error_json(const Error& error) {
  return {{"code", code_name(error.code)},
          {"message", scrubbed(error.message)},
          {"field", scrubbed(error.field)}};
}

Result<RunState> apply(RunState state, const JournalRecord& record) {
  if (state.phase == RunPhase::kFinished) return impossible(record, "the run is finished");
  if (state.phase == RunPhase::kNew && record.kind != JournalKind::kOpened) {
    return impossible(record, "the run is not open");
  }
  switch (record.kind) {
    case JournalKind::kOpened:
      TRY(apply_opened(state, record));
      break;
    case JournalKind::kStarted:
      TRY(apply_started(state, record));
      break;
    case JournalKind::kDone:
      TRY(apply_done(state, record));
      break;
    case JournalKind::kAgain:
      TRY(apply_again(state, record));
      break;
    case JournalKind::kFailed:
      TRY(apply_failed(state, record));
      break;
    case JournalKind::kCrashed:
      state.crashes.insert(json_text(record.body, "life"));
      break;
    case JournalKind::kFinished:
      TRY(apply_finished(state, record));
      break;
  }
  return state;
}

PlaceAt find_place(const Workflow& workflow, const std::string& name) {
  for (bool cleanup : {false, true}) {
    const std::vector<Place>& places = cleanup ? workflow.cleanup : workflow.places;
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i].name == name) return {&places[i], static_cast<int>(i) + 1, cleanup};
    }
  }
  return {};
}

NextStep next(const RunState& state, const Workflow& workflow) {
  if (state.phase == RunPhase::kFinished) return {};
  bool cleanup = state.phase == RunPhase::kCleanup;
  const std::vector<Place>& places = cleanup ? workflow.cleanup : workflow.places;
  size_t index = 0;
  const std::string& named = state.in_progress       ? state.place
                             : !state.resume.empty() ? state.resume
                                                     : state.settled;
  if (!named.empty()) {
    PlaceAt at = find_place(workflow, named);
    if (at.place == nullptr || at.cleanup != cleanup) {
      return {NextStep::Kind::kUnknownPlace, nullptr, cleanup, 1};
    }
    if (state.in_progress) return {NextStep::Kind::kStart, at.place, cleanup, state.attempt + 1};
    if (!state.resume.empty()) return {NextStep::Kind::kStart, at.place, cleanup, 1};
    index = static_cast<size_t>(at.number);
  }
  if (index < places.size()) return start_first(places, index, cleanup);
  if (!cleanup && !workflow.cleanup.empty()) return start_first(workflow.cleanup, 0, true);
  return {state.error ? NextStep::Kind::kFinishFailed : NextStep::Kind::kSucceed, nullptr, cleanup,
          1};
}

}  // namespace leasehold
