#include "agent/engine/recorder.h"

#include "agent/engine/journal_table.h"
#include "agent/engine/run_rows.h"
#include "core/base/log.h"

namespace leasehold {
namespace {

RunEvent event_of(const Run& run, const JournalRecord& record) {
  RunEvent event;
  event.run = run.state.run;
  event.kind = journal_kind_name(record.kind);
  event.place = record.place;
  event.pass = record.pass;
  event.at_ms = record.at_ms;
  PlaceAt at = run.workflow != nullptr ? find_place(*run.workflow, record.place) : PlaceAt{};
  if (at.place != nullptr) {
    event.group = at.place->group;
    event.title = at.place->title;
  }
  bool ends = record.kind == JournalKind::kDone || record.kind == JournalKind::kFailed ||
              record.kind == JournalKind::kAgain;
  if (ends && !record.place.empty()) event.took_ms = record.at_ms - run.state.place_started_ms;
  if (record.kind == JournalKind::kFailed) {
    event.detail =
        scrubbed(json_text(record.body, "code") + ": " + json_text(record.body, "message"));
  }
  if (record.kind == JournalKind::kAgain) event.detail = json_text(record.body, "why");
  if (record.kind == JournalKind::kFinished) {
    event.detail = json_text(record.body, "state");
    event.took_ms = record.at_ms - run.state.run.started_ms;
    if (run.state.error) event.detail += ": " + scrubbed(run.state.error->text());
  }
  return event;
}

}  // namespace

bool Recorder::may_retry(const Error& error) {
  return error.code == Code::kIo || error.code == Code::kDatabase;
}

JournalRecord Recorder::record(const Run& run, JournalKind kind, Json body) const {
  JournalRecord made;
  made.run = run.id;
  made.pass = run.state.pass;
  if (run.state.in_progress) {
    made.place = run.state.place;
    made.attempt = run.state.attempt;
  }
  made.kind = kind;
  made.at_ms = options_.clock->now_ms();
  made.body = std::move(body);
  return made;
}

void Recorder::add(Run& run, JournalRecord record) const {
  Result<RunState> after = apply(std::move(run.state), record);
  if (!after.ok()) {
    check_failed(__FILE__, __LINE__, "law journal-first: a record that may follow",
                 after.error().text());
  }
  run.state = std::move(after).value();
  if (!record.place.empty() && record.kind != JournalKind::kStarted) {
    run.commit->engine_rows.push_back(step_row(run.state, record, run.workflow));
  }
  run.commit->events.push_back(event_of(run, record));
  run.commit->records.push_back(std::move(record));
}

void Recorder::prepare(Run& run, Closing closing) const {
  run.commit.emplace();
  run.commit->rows = std::move(closing.rows);
  run.commit->notices = std::move(closing.notices);
  for (JournalRecord& closed : closing.records) add(run, std::move(closed));
  // Nothing but its end can follow in a run whose workflow is unknown.
  run.next = run.workflow != nullptr ? next(run.state, *run.workflow)
                                     : NextStep{NextStep::Kind::kFinishFailed, nullptr, true, 1};
  // A place that this version does not know: its failure is settled, the rest cannot be found.
  if (run.next.kind == NextStep::Kind::kUnknownPlace && run.state.error) {
    run.next.kind = NextStep::Kind::kFinishFailed;
  }
  if (run.next.kind == NextStep::Kind::kStart) {
    JournalRecord started = record(run, JournalKind::kStarted, Json{{"cleanup", run.next.cleanup}});
    started.place = run.next.place->name;
    started.attempt = run.next.attempt;
    add(run, std::move(started));
  } else if (run.next.kind == NextStep::Kind::kFinishFailed) {
    add(run, record(run, JournalKind::kFinished, Json{{"state", "failed"}}));
    run.next = {};
  }
  run.commit->load =
      run.next.kind == NextStep::Kind::kStart || run.next.kind == NextStep::Kind::kSucceed;
  if (!run.commit->records.empty()) {
    run.commit->engine_rows.push_back(run_row(run.state, run.workflow));
  }
}

Status Recorder::write_in(Sql& sql, const Run& run, Snapshot& rows,
                          std::optional<Error>& load_error) const {
  for (const RowChange& change : run.commit->rows) TRY(options_.apply(sql, change));
  for (const RowChange& change : run.commit->engine_rows) TRY(options_.apply(sql, change));
  for (const JournalRecord& record : run.commit->records) TRY(journal_table::append(sql, record));
  if (!run.commit->load) return {};
  return load_in(sql, run, rows, load_error);
}

Status Recorder::load_in(Sql& sql, const Run& run, Snapshot& rows,
                         std::optional<Error>& load_error) const {
  Status loaded = options_.load(sql, run.state.run, rows);
  if (loaded.ok()) return {};
  if (may_retry(loaded.error())) return loaded;
  load_error = Error(Code::kInternal, "the rows of the step: " + loaded.error().text());
  return {};
}

Status Recorder::write(Run& run) const {
  auto rows = std::make_shared<Snapshot>();
  std::optional<Error> load_error;
  Status written = options_.database->transact_and_wait([&](Sql& sql) {
    *rows = Snapshot();
    load_error.reset();
    return write_in(sql, run, *rows, load_error);
  });
  if (written.ok()) {
    run.rows = std::move(rows);
    run.load_error = std::move(load_error);
    return {};
  }
  if (may_retry(written.error())) return written;
  // Until the journal has been read anew, the refused commit stays and is refused again.
  TRY(read(run));
  run.commit.reset();
  return written;
}

Status Recorder::read(Run& run) const {
  RunState state;
  TRY(options_.database->transact_and_wait([&](Sql& sql) -> Status {
    state = TRY(journal_table::read(sql, run.id));
    return {};
  }));
  run.state = std::move(state);
  return {};
}

Status Recorder::load(Run& run) const {
  auto rows = std::make_shared<Snapshot>();
  std::optional<Error> load_error;
  TRY(options_.database->transact_and_wait([&](Sql& sql) {
    *rows = Snapshot();
    load_error.reset();
    return load_in(sql, run, *rows, load_error);
  }));
  run.rows = std::move(rows);
  run.load_error = std::move(load_error);
  return {};
}

}  // namespace leasehold
