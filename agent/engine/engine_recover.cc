// The engine's start: which runs are open, which of them crashed the former process, and what the
// timeline and the log are told.
#include <unistd.h>

#include "agent/engine/engine_impl.h"
#include "agent/engine/journal_table.h"
#include "core/base/log.h"

namespace leasehold {
namespace {

std::optional<LogEvent> log_event_of(const RunEvent& event) {
  if (event.kind == "run-started") return LogEvent::kRunStarted;
  if (event.kind == "started") return LogEvent::kStepStarted;
  if (event.kind == "done" || event.kind == "again") return LogEvent::kStepDone;
  if (event.kind == "failed") return LogEvent::kStepFailed;
  if (event.kind == "polling") return LogEvent::kStepPolling;
  if (event.kind == "finished") return LogEvent::kRunFinished;
  return std::nullopt;
}

void log_event(const RunEvent& event) {
  std::optional<LogEvent> name = log_event_of(event);
  if (!name) return;
  Json line = {{"run", event.run.id.str()},
               {"node", event.run.node.str()},
               {"workflow", event.run.workflow},
               {"place", event.place},
               {"pass", event.pass}};
  if (!event.detail.empty()) line["detail"] = event.detail;
  if (event.took_ms != 0) line["took_ms"] = event.took_ms;
  log_line(*name, std::move(line));
}

Status count_crash(Sql& sql, const CrashRecord::Crash& crash, const RunState& state,
                   int64_t now_ms) {
  if (state.crashes.count(crash.life) != 0) return {};
  JournalRecord record;
  record.run = crash.run;
  record.pass = state.pass;
  record.kind = JournalKind::kCrashed;
  record.at_ms = now_ms;
  record.body = {{"life", crash.life}};
  return journal_table::append(sql, record);
}

// A place in progress is closed with the failure, so that the run may end.
Status close_failed(Sql& sql, const RunState& state, const Error& error, int64_t now_ms) {
  JournalRecord record;
  record.run = state.run.id;
  record.pass = state.pass;
  record.at_ms = now_ms;
  if (state.in_progress) {
    record.place = state.place;
    record.attempt = state.attempt;
  }
  if (state.in_progress || !state.error) {
    record.kind = JournalKind::kFailed;
    record.body = error_json(error);
    TRY(journal_table::append(sql, record));
  }
  JournalRecord finished;
  finished.run = state.run.id;
  finished.pass = state.pass;
  finished.at_ms = now_ms;
  finished.kind = JournalKind::kFinished;
  finished.body = Json{{"state", "failed"}};
  return journal_table::append(sql, finished);
}

}  // namespace

Result<std::vector<RunInfo>> Engine::abandon(Sql& sql, const Error& error, int64_t now_ms) {
  std::vector<RunInfo> abandoned;
  for (const RunId& id : TRY(journal_table::open_runs(sql))) {
    RunState state = TRY(journal_table::read(sql, id));
    TRY(close_failed(sql, state, error, now_ms));
    abandoned.push_back(state.run);
  }
  return abandoned;
}

void Engine::Impl::tell(const std::vector<RunEvent>& events, const std::vector<Json>& notices) {
  for (const RunEvent& event : events) {
    log_event(event);
    if (options_.on_event) options_.on_event(event);
  }
  for (const Json& notice : notices) {
    if (options_.on_notice) options_.on_notice(notice);
  }
}

// The crashes are counted durably before the file that told of them is emptied; one that is read a
// second time is known by the life it ended.
Result<std::vector<RunId>> Engine::Impl::count_crashes(std::map<RunId, bool>& crashed) {
  std::vector<CrashRecord::Crash> crashes;
  if (!options_.crash_file.empty()) crashes = TRY(CrashRecord::read(options_.crash_file));
  std::vector<RunId> open;
  TRY(options_.database->transact_and_wait([&](Sql& sql) -> Status {
    open = TRY(journal_table::open_runs(sql));
    for (const CrashRecord::Crash& crash : crashes) {
      if (std::find(open.begin(), open.end(), crash.run) == open.end()) continue;
      RunState state = TRY(journal_table::read(sql, crash.run));
      TRY(count_crash(sql, crash, state, options_.clock->now_ms()));
      crashed[crash.run] = true;
    }
    return {};
  }));
  for (const auto& [run, yes] : crashed) log_line(LogEvent::kCrashCounted, {{"run", run.str()}});
  if (!options_.crash_file.empty()) {
    std::string life = std::to_string(options_.clock->now_ms()) + "-" + std::to_string(::getpid());
    TRY(crashes_.arm(options_.crash_file, life));
  }
  return open;
}

Status Engine::Impl::recover() {
  std::map<RunId, bool> crashed;
  std::vector<RunId> open = TRY(count_crashes(crashed));
  for (const RunId& id : open) {
    auto run = std::make_shared<Run>(id);
    TRY_WITH(driver_.adopt(*run, crashed.count(id) != 0), "run " + id.str());
    if (run->state.phase == RunPhase::kFinished) continue;
    log_line(LogEvent::kRunResumed, {{"run", id.str()},
                                     {"node", run->state.run.node.str()},
                                     {"place", run->state.place},
                                     {"attempt", run->state.attempt}});
    {
      std::lock_guard lock(mutex_);
      run->progress.run = run->state.run;
      run->progress.place = run->state.place;
      run->progress.pass = run->state.pass;
      run->progress.attempt = run->state.attempt;
      runs_.emplace(id, run);
    }
    later([id](Impl& self) { self.start(id); });
  }
  return {};
}

}  // namespace leasehold
