#include "agent/engine/run_rows.h"

#include <cstdio>

#include "core/base/log.h"

namespace leasehold {
namespace {

std::string step_key(const JournalRecord& record, const PlaceAt& at) {
  char tail[32];
  std::snprintf(tail, sizeof tail, "-p%d-%s%02d", record.pass, at.cleanup ? "c" : "", at.number);
  return record.run.str() + tail;
}

std::string step_state(const JournalRecord& record) {
  switch (record.kind) {
    case JournalKind::kDone:
      return "done";
    case JournalKind::kAgain:
      return "again";
    default:
      return "failed";
  }
}

}  // namespace

RowChange run_row(const RunState& state, const Workflow* workflow) {
  const RunInfo& run = state.run;
  PlaceAt at =
      workflow != nullptr && state.in_progress ? find_place(*workflow, state.place) : PlaceAt{};
  bool finished = state.phase == RunPhase::kFinished;
  Json row = {{"table", "run"},
              {"schema", 1},
              {"run", run.id.str()},
              {"node", run.node.str()},
              {"lease", run.lease.str()},
              {"work", run.work.str()},
              {"workflow", run.workflow},
              {"generation", run.generation},
              {"state", !finished     ? "open"
                        : state.error ? "failed"
                                      : "succeeded"},
              {"place", state.place},
              {"title", at.place != nullptr ? at.place->title : ""},
              {"group", at.place != nullptr ? at.place->group : ""},
              {"pass", state.pass},
              {"attempt", state.in_progress ? state.attempt : 0},
              {"placeStartedAt", state.in_progress ? format_time(state.place_started_ms) : ""},
              {"code", state.error ? code_name(state.error->code) : ""},
              {"message", state.error ? scrubbed(state.error->message) : ""},
              {"startedAt", format_time(run.started_ms)},
              {"finishedAt", finished ? format_time(state.finished_ms) : ""}};
  return {"run", run.id.str(), std::move(row)};
}

RowChange step_row(const RunState& state, const JournalRecord& record, const Workflow* workflow) {
  PlaceAt at = workflow != nullptr ? find_place(*workflow, record.place) : PlaceAt{};
  std::string key = step_key(record, at);
  Json row = {{"table", "step"},
              {"schema", 1},
              {"step", key},
              {"run", record.run.str()},
              {"node", state.run.node.str()},
              {"place", record.place},
              {"title", at.place != nullptr ? at.place->title : ""},
              {"group", at.place != nullptr ? at.place->group : ""},
              {"pass", record.pass},
              {"attempt", record.attempt},
              {"state", step_state(record)},
              {"startedAt", format_time(state.place_started_ms)},
              {"finishedAt", format_time(record.at_ms)}};
  if (record.kind == JournalKind::kDone) row["output"] = json_member(record.body, "output");
  if (record.kind == JournalKind::kFailed) {
    row["code"] = json_text(record.body, "code");
    row["message"] = scrubbed(json_text(record.body, "message"));
  }
  return {"step", key, std::move(row)};
}

}  // namespace leasehold
