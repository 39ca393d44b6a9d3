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
  Json row = Json::object();
  auto& member = row.get_ref<Json::object_t&>();
  member["table"] = "run";
  member["schema"] = 1;
  member["run"] = run.id.str();
  member["node"] = run.node.str();
  member["lease"] = run.lease.str();
  member["work"] = run.work.str();
  member["workflow"] = run.workflow;
  member["generation"] = run.generation;
  member["state"] = !finished ? "open" : state.error ? "failed" : "succeeded";
  member["place"] = state.place;
  member["title"] = at.place != nullptr ? at.place->title : "";
  member["group"] = at.place != nullptr ? at.place->group : "";
  member["pass"] = state.pass;
  member["attempt"] = state.in_progress ? state.attempt : 0;
  member["placeStartedAt"] = state.in_progress ? format_time(state.place_started_ms) : "";
  member["code"] = state.error ? code_name(state.error->code) : "";
  member["message"] = state.error ? scrubbed(state.error->message) : "";
  member["startedAt"] = format_time(run.started_ms);
  member["finishedAt"] = finished ? format_time(state.finished_ms) : "";
  return {"run", run.id.str(), std::move(row)};
}

RowChange step_row(const RunState& state, const JournalRecord& record, const Workflow* workflow) {
  PlaceAt at = workflow != nullptr ? find_place(*workflow, record.place) : PlaceAt{};
  std::string key = step_key(record, at);
  Json row = Json::object();
  auto& member = row.get_ref<Json::object_t&>();
  member["table"] = "step";
  member["schema"] = 1;
  member["step"] = key;
  member["run"] = record.run.str();
  member["node"] = state.run.node.str();
  member["place"] = record.place;
  member["title"] = at.place != nullptr ? at.place->title : "";
  member["group"] = at.place != nullptr ? at.place->group : "";
  member["pass"] = record.pass;
  member["attempt"] = record.attempt;
  member["state"] = step_state(record);
  member["startedAt"] = format_time(state.place_started_ms);
  member["finishedAt"] = format_time(record.at_ms);
  if (record.kind == JournalKind::kDone) row["output"] = json_member(record.body, "output");
  if (record.kind == JournalKind::kFailed) {
    row["code"] = json_text(record.body, "code");
    row["message"] = scrubbed(json_text(record.body, "message"));
  }
  return {"step", key, std::move(row)};
}

}  // namespace leasehold
