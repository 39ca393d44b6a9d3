#include "agent/sync/site_link.h"

#include <algorithm>
#include <chrono>

#include "agent/sync/restore.h"
#include "agent/sync/row_receiver.h"
#include "core/base/harmless.h"
#include "core/base/log.h"
#include "core/sync/state.h"
#include "core/sync/table_hash.h"

namespace leasehold {
namespace {

// Positions settle in three exchanges; more means that the ends do not understand each other.
constexpr int kMeetings = 16;
constexpr const char* kHelloRow = "coordinator-hello";  // the centre's last word
constexpr const char* kRestoredRow = "restored";        // "found", "settled", "over"

Status put_state(Sql& sql, const char* name, Json fields) {
  fields["table"] = "site_state";
  fields["schema"] = 1;
  fields["name"] = name;
  return row_store::put(sql, RowChange{"site_state", name, std::move(fields)});
}

Status put_restored(Sql& sql, const char* state, const std::string& why) {
  return put_state(sql, kRestoredRow, Json{{"state", state}, {"why", why}});
}

}  // namespace

SiteLink::SiteLink(SyncState& state, CoordinatorClient& centre, Database& database, Options options)
    : state_(state),
      centre_(centre),
      database_(database),
      options_(std::move(options)),
      backoff_(*options_.random),
      began_ms_(options_.clock->monotonic_ms()) {}

Status SiteLink::begin(Sql& sql, const sync::End& end, const StartCounter::Start& start,
                       bool has_coordinator) {
  if (!start.own) {
    log_line(LogEvent::kSiteRestored, Json{{"message", start.finding}});
    TRY(put_restored(sql, "found", start.finding));
  }
  Json restored = TRY(row_store::get(sql, "site_state", kRestoredRow));
  if (!has_coordinator || json_text(restored, "state") != "found") return {};
  return sync::found_restored(sql, end);
}

Status SiteLink::remember() {
  return database_.transact_and_wait([this](Sql& sql) -> Status {
    Json hello = TRY(row_store::get(sql, "site_state", kHelloRow));
    Json restored = TRY(row_store::get(sql, "site_state", kRestoredRow));
    std::string state = json_text(restored, "state");
    restored_ = !restored.is_null() && state != "over";
    settled_ = state == "settled";
    alone_is_good_ = !restored_ && json_text(hello, "verdict") == "go";
    superseded_ = json_text(hello, "verdict") == "superseded" &&
                  json_text(hello, "enrolment") == options_.enrolment;
    Json clock = TRY(row_store::get(sql, "site_state", TrustedClock::kRow));
    if (!clock.is_null()) options_.trusted->restore(clock);
    return {};
  });
}

Status SiteLink::put_hello(Sql& sql, const char* verdict) {
  return put_state(sql, kHelloRow,
                   Json{{"verdict", verdict},
                        {"instance", centre_.instance()},
                        {"enrolment", options_.enrolment}});
}

void SiteLink::remember_superseded() {
  Status written =
      database_.transact_and_wait([this](Sql& sql) { return put_hello(sql, "superseded"); });
  if (written.ok()) return;
  log_line(LogEvent::kSiteSuperseded, Json{{"message", scrubbed(written.error().text())}});
}

void SiteLink::run() {
  Status remembered = remember();
  if (!remembered.ok()) return options_.fatal(remembered.error());
  if (superseded_) {
    centre_.superseded(
        "a newer agent of this site was at work when this one ran last, and may still be");
    return tell_stopped();
  }
  meet_and_act();
  if (options_.standing->superseded()) tell_stopped();
}

// The newer agent waits for this word before it acts.
void SiteLink::tell_stopped() {
  while (true) {
    Result<Json> told = centre_.post("/v1/sync/stopped", Json::object());
    if (told.ok()) return;
    std::unique_lock lock(mutex_);
    const std::chrono::milliseconds pause(backoff_.next_ms());
    if (wake_.wait_for(lock, pause, [this] { return closing_; })) return;
  }
}

void SiteLink::close() {
  std::lock_guard lock(mutex_);
  closing_ = true;
  wake_.notify_all();
}

void SiteLink::meet_and_act() {
  options_.standing->set(restored_ ? Standing::kRestoring : Standing::kStarting,
                         "waits for the coordinator's hello");
  while (!state_.stopping()) {
    Status linked = link();
    if (state_.stopping()) return;
    if (linked.ok()) {
      backoff_.reset();
      state_.set_linked(true);
      options_.linked();
    } else {
      state_.failed(linked.error());
      hashes_ms_ = 0;
    }
    consider_acting(linked.ok());
    if (linked.ok()) compare_hashes();
    bool goes_on =
        linked.ok() ? state_.wait_look(patience_ms(true)) : state_.pause(patience_ms(false));
    if (!goes_on) return;
  }
}

int64_t SiteLink::patience_ms(bool linked) {
  if (!linked) return backoff_.next_ms();
  int64_t now_ms = options_.clock->monotonic_ms();
  int64_t wait_ms = std::max<int64_t>(hashes_ms_ - now_ms, 1'000);
  if (acting_) return wait_ms;
  int64_t hold_ms = restored_ ? met_ms_ + options_.takeover_wait_ms - now_ms : 0;
  return std::min(wait_ms, std::max<int64_t>(hold_ms > 0 ? hold_ms : limits::kAuthorityLookMs, 1));
}

// --- the meeting
// ----------------------------------------------------------------------------------

Status SiteLink::link() {
  for (int i = 0; i < kMeetings; ++i) {
    bool met = TRY(hello());
    if (state_.stopping()) return Error(Code::kStopped, "the agent stops");
    if (!met) continue;
    if (met_ms_ == 0) met_ms_ = options_.clock->monotonic_ms();
    return restored_ && !settled_ ? settle() : Status();
  }
  return Error(Code::kConflict, "the coordinator's stream and ours do not come together");
}

// True once both streams can go on from what was exchanged.
Result<bool> SiteLink::hello() {
  sync::Position mine;
  TRY(database_.transact_and_wait([&](Sql& sql) -> Status {
    mine = TRY(sync::position(sql, options_.end));
    return {};
  }));
  int64_t asked_ms = options_.clock->monotonic_ms();
  Json answer = TRY(centre_.post("/v1/sync/hello",
                                 Json{{"instance", centre_.instance()},
                                      {"box", options_.start.box},
                                      {"startCounter", options_.start.number},
                                      {"stream", sync::position_json(mine)}},
                                 options_.hello_ms));
  int64_t answered_ms = options_.clock->monotonic_ms();
  int64_t time_ms = TRY(parse_time(json_text(answer, "time")));
  options_.trusted->heard(time_ms, asked_ms + (answered_ms - asked_ms) / 2);
  if (json_text(answer, "verdict") == "superseded") {
    centre_.superseded("the coordinator knows a newer agent of this site");
    return Error(Code::kSuperseded, "a newer agent of this site is at work");
  }
  former_ = json_member(answer, "former");
  sync::Position theirs =
      TRY_WITH(sync::parse_position(json_member(answer, "stream")), "the coordinator's hello");
  sync::Meeting meeting;
  bool told_so = json_text(answer, "verdict") == "restored";
  TRY(database_.transact_and_wait([&](Sql& sql) { return met(sql, theirs, told_so, meeting); }));
  state_.heard();
  state_.told(theirs);
  bool restored = meeting.mine == sync::Standing::kRestored || told_so;
  if (restored && acting_) return found_out_while_acting().error();
  if (restored) {
    restored_ = true;
    options_.standing->set(Standing::kRestoring, "its rows come back from the coordinator");
  }
  bool fetched = false;
  for (const sync::ChunkRequest& want : meeting.position.wants) {
    if (want.owner != RowOwner::kSite) continue;
    TRY(fetch_own(want));
    fetched = true;
  }
  return !fetched && !meeting.position.restoring && meeting.mine != sync::Standing::kRestored &&
         meeting.position.incarnation == mine.incarnation;
}

Status SiteLink::met(Sql& sql, const sync::Position& theirs, bool restored,
                     sync::Meeting& meeting) {
  meeting = TRY(sync::meet(sql, options_.end, theirs, *options_.random));
  restored = restored || meeting.mine == sync::Standing::kRestored;
  if (restored && !restored_) {
    TRY(put_restored(sql, "found", "the coordinator knows a later state of this site"));
    // Even if its rows are as new as the centre's, they go on as another stream.
    TRY(sync::found_restored(sql, options_.end));
    meeting.position.restoring = true;
  }
  TRY(row_store::put(sql, RowChange{"site_state", TrustedClock::kRow, options_.trusted->row()}));
  return put_hello(sql, former_.is_object() ? "wait" : "go");
}

// A machine that was set back to a snapshot of itself, this process with it. What it has in memory
// is as old as its database.
Status SiteLink::found_out_while_acting() {
  Error error(Code::kDatabase,
              "this running agent was set back to an older state; it starts anew and takes its "
              "rows back first");
  options_.fatal(error);
  return error;
}

// --- a restored site
// ------------------------------------------------------------------------------

Status SiteLink::fetch_own(sync::ChunkRequest want) {
  while (true) {
    sync::Chunk chunk = TRY(fetch_chunk(centre_, want));
    sync::ChunkApplied applied;
    TRY(database_.transact_and_wait([&](Sql& sql) -> Status {
      applied = TRY(sync::apply_chunk(sql, options_.end, chunk, *options_.random));
      return {};
    }));
    if (state_.stopping()) return Error(Code::kStopped, "the agent stops");
    if (!applied.next) return {};
    if (!applied.applied) return Error(Code::kConflict, "a piece of the snapshot did not fit");
    want = *applied.next;
  }
}

Status SiteLink::settle() {
  RestoreOutcome outcome;
  TRY(database_.transact_and_wait([&](Sql& sql) -> Status {
    outcome = TRY(settle_restored(sql, *options_.clock, *options_.random));
    return put_restored(sql, "settled", "");
  }));
  settled_ = true;
  log_line(LogEvent::kSiteRestored, Json{{"message", "its rows are back"},
                                         {"closedRuns", outcome.closed.size()},
                                         {"quarantined", outcome.quarantined.size()}});
  options_.standing->set(Standing::kRestoring,
                         "waits until the former agent, if one lives, has heard of this one");
  return {};
}

// --- acting
// ---------------------------------------------------------------------------------------

void SiteLink::consider_acting(bool linked) {
  if (acting_ || options_.standing->superseded()) return;
  int64_t now_ms = options_.clock->monotonic_ms();
  if (restored_) {
    if (!linked || !settled_ || now_ms - met_ms_ < options_.takeover_wait_ms) return;
  } else if (!linked && (!alone_is_good_ || now_ms - began_ms_ < options_.hello_ms)) {
    return;
  }
  if (!waits_for_former()) act();
}

bool SiteLink::waits_for_former() {
  if (!former_.is_object()) return false;
  options_.standing->set(
      restored_ ? Standing::kRestoring : Standing::kStarting,
      "another agent of this site, last heard at " + harmless(json_text(former_, "heardAt")) +
          ", may still act until " + harmless(json_text(former_, "until")) +
          "; once its box is off for good: leasehold site takeover " + options_.end.site);
  return true;
}

void SiteLink::act() {
  std::lock_guard lock(*options_.starting);
  Status may = database_.transact_and_wait([this](Sql& sql) -> Status {
    TRY(options_.gate->may_start(sql));
    return restored_ ? put_restored(sql, "over", "") : Status();
  });
  if (!may.ok()) {
    if (may.error().code == Code::kAuthorityOver) {
      log_line(LogEvent::kAuthorityOver, Json{{"message", may.error().message}});
    }
    options_.standing->set(Standing::kWaiting, may.error().message);
    return;
  }
  Status acted = options_.act();
  if (!acted.ok()) return options_.fatal(acted.error());
  acting_ = true;
  restored_ = false;
  options_.standing->set(Standing::kActing, "");
}

// --- hashes
// ---------------------------------------------------------------------------------------

void SiteLink::compare_hashes() {
  int64_t now_ms = options_.clock->monotonic_ms();
  if (now_ms < hashes_ms_) return;
  hashes_ms_ = now_ms + limits::kSyncHashesMs;
  for (RowOwner owner : {RowOwner::kSite, RowOwner::kCoordinator}) {
    Status compared = compare(owner);
    // Rows are on the way: one of the ends has moved on meanwhile.
    if (!compared.ok()) hashes_ms_ = now_ms + limits::kAuthorityLookMs;
  }
}

Status SiteLink::compare(RowOwner owner) {
  sync::TableHashes hashes;
  TRY(database_.transact_and_wait([&](Sql& sql) -> Status {
    hashes = TRY(sync::table_hashes(sql, options_.end, owner));
    return {};
  }));
  Json answer = TRY(centre_.post("/v1/sync/hashes", sync::table_hashes_json(hashes)));
  if (TRY(json_bool(answer, "equal"))) return {};
  log_line(LogEvent::kSyncDiverged,
           Json{{"owner", sync::owner_name(owner)}, {"tables", json_member(answer, "tables")}});
  if (owner == RowOwner::kSite) {
    state_.look_again();  // the coordinator's next hello says that it wants them
    return {};
  }
  TRY(database_.transact_and_wait(
      [this](Sql& sql) { return sync::want_snapshot(sql, options_.end, *options_.random); }));
  return options_.refetch();
}

}  // namespace leasehold
