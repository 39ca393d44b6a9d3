#include "agent/engine/journal.h"

#include <catch2/catch.hpp>

#include "core/base/log.h"

using namespace leasehold;

namespace {

using Kind = JournalKind;

JournalRecord record(Kind kind, const std::string& place = "", int attempt = 1, int pass = 1) {
  JournalRecord made;
  made.run = RunId("r-1");
  made.kind = kind;
  made.place = place;
  made.attempt = place.empty() ? 0 : attempt;
  made.pass = pass;
  RunInfo info;
  info.workflow = "fake@1";
  if (kind == Kind::kOpened) made.body = run_info_json(info);
  if (kind == Kind::kFailed) made.body = error_json(Error(Code::kInternal, "no"));
  if (kind == Kind::kAgain) made.body = {{"from", "a"}, {"why", "w"}};
  if (kind == Kind::kFinished) made.body = {{"state", "succeeded"}};
  if (kind == Kind::kCrashed) made.body = {{"life", "1"}};
  return made;
}
JournalRecord cleanup(const std::string& place, int attempt = 1) {
  JournalRecord made = record(Kind::kStarted, place, attempt);
  made.body = {{"cleanup", true}};
  return made;
}
JournalRecord finished(const std::string& state) {
  JournalRecord made = record(Kind::kFinished);
  made.body = {{"state", state}};
  return made;
}
bool possible(const std::vector<JournalRecord>& records) {
  RunState state;
  for (size_t i = 0; i < records.size(); ++i) {
    Result<RunState> after = apply(state, records[i]);
    if (!after.ok()) {
      CHECK(after.error().code == Code::kDatabase);
      CHECK(i + 1 == records.size());  // only the last may be the impossible one
      return false;
    }
    state = after.value();
  }
  return true;
}
Workflow workflow() {
  auto step = [](StepContext&) -> StepOutcome { return Done{}; };
  Workflow made;
  made.name = "fake@1";
  made.places = {{"a", "", "", 1, step}, {"b", "", "", 1, step}};
  made.cleanup = {{"x", "", "", 1, step}};
  return made;
}
RunState after(const std::vector<JournalRecord>& records) {
  RunState state;
  for (const JournalRecord& one : records) state = apply(std::move(state), one).value();
  return state;
}

const JournalRecord kOpen = record(Kind::kOpened);
const JournalRecord kStartA = record(Kind::kStarted, "a");
const JournalRecord kDoneA = record(Kind::kDone, "a");
const JournalRecord kFailA = record(Kind::kFailed, "a");

}  // namespace

TEST_CASE("records that may follow") {
  CHECK(possible({kOpen, kStartA, kDoneA, record(Kind::kStarted, "b")}));
  CHECK(possible({kOpen, kStartA, record(Kind::kStarted, "a", 2), record(Kind::kDone, "a", 2)}));
  CHECK(possible({kOpen, kStartA, record(Kind::kAgain, "a"), record(Kind::kStarted, "a", 1, 2)}));
  CHECK(possible(
      {kOpen, kStartA, kFailA, cleanup("x"), record(Kind::kFailed, "x"), finished("failed")}));
  CHECK(possible(
      {kOpen, kStartA, kDoneA, cleanup("x"), record(Kind::kDone, "x"), finished("succeeded")}));
  CHECK(possible({kOpen, record(Kind::kFailed), finished("failed")}));
  CHECK(possible({kOpen, kStartA, record(Kind::kCrashed), record(Kind::kStarted, "a", 2)}));
}

TEST_CASE("records that may not") {
  CHECK_FALSE(possible({kStartA}));
  CHECK_FALSE(possible({kOpen, kOpen}));
  CHECK_FALSE(possible({kOpen, kDoneA}));
  CHECK_FALSE(possible({kOpen, kStartA, record(Kind::kDone, "b")}));
  CHECK_FALSE(possible({kOpen, kStartA, record(Kind::kDone, "a", 2)}));
  CHECK_FALSE(possible({kOpen, kStartA, record(Kind::kDone, "a", 1, 2)}));
  CHECK_FALSE(possible({kOpen, kStartA, kStartA}));
  CHECK_FALSE(possible({kOpen, kStartA, record(Kind::kStarted, "b")}));
  CHECK_FALSE(possible({kOpen, record(Kind::kStarted, "a", 2)}));
  CHECK_FALSE(possible({kOpen, kStartA, kDoneA, kDoneA}));
  CHECK_FALSE(possible({kOpen, kStartA, kFailA, record(Kind::kStarted, "b")}));
  CHECK_FALSE(possible({kOpen, kStartA, finished("succeeded")}));
  CHECK_FALSE(possible({kOpen, kStartA, kFailA, finished("succeeded")}));
  CHECK_FALSE(possible({kOpen, kStartA, kDoneA, finished("failed")}));
  CHECK_FALSE(possible({kOpen, kStartA, kDoneA, finished("succeeded"), kStartA}));
  CHECK_FALSE(possible({kOpen, kStartA, record(Kind::kFailed)}));
  CHECK_FALSE(possible({kOpen, cleanup("x"), record(Kind::kAgain, "x")}));
  CHECK_FALSE(possible({kOpen, kStartA, record(Kind::kAgain, "a"), record(Kind::kStarted, "a")}));
  CHECK_FALSE(
      possible({kOpen, kStartA, record(Kind::kAgain, "a"), record(Kind::kStarted, "b", 1, 2)}));
  CHECK_FALSE(possible({kOpen, kStartA, record(Kind::kAgain, "a"),
                        record(Kind::kStarted, "a", 1, 2), record(Kind::kAgain, "a", 1, 2)}));
}

TEST_CASE("what comes next") {
  Workflow flow = workflow();
  auto expect = [&](const std::vector<JournalRecord>& records, NextStep::Kind kind,
                    const std::string& place = "", int attempt = 1) {
    NextStep step = next(after(records), flow);
    CHECK(step.kind == kind);
    CHECK((step.place == nullptr ? "" : step.place->name) == place);
    CHECK(step.attempt == attempt);
  };
  using Next = NextStep::Kind;
  JournalRecord done_x = record(Kind::kDone, "x");
  expect({kOpen}, Next::kStart, "a");
  expect({kOpen, kStartA}, Next::kStart, "a", 2);
  expect({kOpen, kStartA, kDoneA}, Next::kStart, "b");
  expect({kOpen, kStartA, kFailA}, Next::kStart, "x");
  expect({kOpen, kStartA, record(Kind::kAgain, "a")}, Next::kStart, "a");
  expect({kOpen, record(Kind::kStarted, "b"), record(Kind::kDone, "b")}, Next::kStart, "x");
  expect({kOpen, kStartA, kFailA, cleanup("x"), done_x}, Next::kFinishFailed);
  expect({kOpen, record(Kind::kStarted, "b"), record(Kind::kDone, "b"), cleanup("x"), done_x},
         Next::kSucceed);
  expect({kOpen, record(Kind::kStarted, "gone")}, Next::kUnknownPlace);
  expect({kOpen, record(Kind::kFailed), finished("failed")}, Next::kNothing);
}

TEST_CASE("the first failure stays, outputs are kept by place") {
  JournalRecord second = record(Kind::kFailed, "x");
  second.body = error_json(Error(Code::kTimeout, "later"));
  JournalRecord done = kDoneA;
  done.body = {{"output", 5}};
  RunState state = after({kOpen, kStartA, done, record(Kind::kStarted, "b"),
                          record(Kind::kFailed, "b"), cleanup("x"), second});
  CHECK(state.error->code == Code::kInternal);
  CHECK(state.outputs.at("a") == 5);
}

TEST_CASE("an error enters the journal without the secrets that the program knows") {
  log_scrub("journal-Secret.1");
  Json body = error_json(Error(Code::kRefused, "it said journal-Secret.1", "journal-Secret.1"));
  CHECK(body["message"] == "it said [secret]");
  CHECK(body["field"] == "[secret]");
  CHECK(body["code"] == "REFUSED");
}
