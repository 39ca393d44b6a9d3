// The door of the rows: a site's agent says hello, sends its rows, and takes the coordinator's.
// What a message means is core/sync's; here stands who may send it, and what is remembered of a
// site.
#include "coordinator/api/routes.h"
#include "coordinator/api/site_views.h"
#include "coordinator/api/takeover.h"
#include "coordinator/clearance/clearance.h"
#include "coordinator/limits.h"
#include "coordinator/store/site_rows.h"
#include "core/base/log.h"
#include "core/rows/coordinator_rows.h"
#include "core/sync/meet.h"
#include "core/sync/snapshot.h"
#include "core/sync/table_hash.h"

namespace leasehold {
namespace {

constexpr const char* kJsonType = "application/json";

Error superseded(const store::Site& site) {
  return Error(Code::kSuperseded, "a newer agent of site " + site.site + " is at work");
}

// The site of an agent that said hello to this very process, and is the newest.
Result<store::Site> linked_site(const CentreContext& context, Sql& sql, const Call& call) {
  store::Site site = TRY(calling_site(sql, call));
  if (site.instance == call.instance && site.met_start == context.start) return site;
  if (TRY(store::is_former_instance(sql, site, call.instance))) return superseded(site);
  return Error(Code::kConflict, "say hello first: this agent and this coordinator have not met");
}

// The rolling term of a site that is heard (law no-stale-hand), and when it was heard.
Status heard(Sql& sql, Call& call, store::Site& site) {
  row_store::Stream own = TRY(row_store::stream(sql, sync::End::of_coordinator(site.site).side));
  const bool grants = !own.restoring && call.now_ms - site.term_at_ms >= limits::kAuthorityRenewMs;
  if (grants) {
    AuthorityRow row;
    row.until_ms = call.now_ms + limits::kAuthorityTermMs;
    row.time_ms = call.now_ms;
    TRY(store::tell_site(sql, site.site, row.change(), call.touched));
    site.term_at_ms = call.now_ms;
  }
  if (!grants && call.now_ms - site.contact_at_ms < limits::kContactWriteMs) return {};
  site.contact_at_ms = call.now_ms;
  return store::put_site(sql, site);
}

Result<Reply> superseded_reply(const store::Site& site, const Call& call) {
  Json body = {{"time", format_time(call.now_ms)},
               {"verdict", "superseded"},
               {"stream", Json()},
               {"code", code_name(Code::kSuperseded)},
               {"message", superseded(site).message}};
  return reply(std::move(body));
}

Status register_instance(const CentreContext& context, Sql& sql, Call& call, store::Site& site,
                         const std::string& instance, int64_t counter) {
  if (site.instance != instance) {
    TRY(store::add_instance(sql, site.site, instance));
    // The former agent's poll is answered at once, with SUPERSEDED.
    call.touched.insert(stream_topic(site.site));
  }
  site.instance = instance;
  site.start_counter = counter;
  site.met_start = context.start;
  site.contact_at_ms = call.now_ms;
  return store::put_site(sql, site);
}

Status raise_alarm(Sql& sql, Arrival& arrival, store::Site& site, const Error& error) {
  log_line(LogEvent::kSyncRefused, {{"site", site.site}, {"message", error.text()}});
  const bool known = site.alarm_code == code_name(error.code) && site.alarm == error.message;
  if (known) return {};
  site.alarm_code = code_name(error.code);
  site.alarm = error.message;
  TRY(store::put_site(sql, site));
  return tell_event(sql, arrival, "site.rows-refused", "",
                    {{"code", site.alarm_code}, {"message", site.alarm}});
}

// A site that knows more of the coordinator's rows than there are may be right: then this database
// was set back, and an operator says so. On the site's word alone nothing is taken back, or a
// broken agent could write its own clearances.
Result<Reply> claims_more(const CentreContext& context, Sql& sql, Call& call, store::Site& site) {
  Arrival arrival{context, site.site, call.now_ms, call.touched};
  Reply refused;
  refused.refused = Error(
      Code::kForbidden,
      "site " + site.site +
          " says that it has rows of this coordinator which are not here; if the coordinator's "
          "database was set back, stop it, remove the file \"starts\" from its state_dir, and "
          "start it");
  TRY(raise_alarm(sql, arrival, site, *refused.refused));
  return refused;
}

Result<Reply> hello(const CentreContext& context, Sql& sql, Call& call) {
  TRY(check_keys(call.body, {"instance", "box", "startCounter", "stream"}, "a hello"));
  const std::string instance = TRY(json_string(call.body, "instance"));
  const int64_t counter = TRY(json_int(call.body, "startCounter"));
  Json stream = TRY(json_object(call.body, "stream"));
  if (instance.empty() || instance.size() > limits::kInstanceBytes) {
    return Error(Code::kInvalidInput, "an instance is a name of 1 to 64 characters", "instance");
  }
  const std::string box = TRY(json_string(call.body, "box"));
  if (box.empty() || box.size() > limits::kBoxBytes) {
    return Error(Code::kInvalidInput, "a box is a name of 1 to 64 characters", "box");
  }
  sync::Position theirs = TRY(sync::parse_position(stream));
  store::Site site = TRY(calling_site(sql, call));
  if (TRY(store::is_former_instance(sql, site, instance))) return superseded_reply(site, call);
  // A start that was counted before is a copy's, or a backup's.
  const bool copied = instance != site.instance && counter <= site.start_counter;
  const sync::End end = sync::End::of_coordinator(site.site);
  const row_store::Stream own = TRY(row_store::stream(sql, end.side));
  TRY(sql.run("SAVEPOINT meeting"));
  sync::Meeting meeting = TRY(sync::meet(sql, end, theirs, *context.random));
  if (meeting.mine == sync::Standing::kRestored && !own.restoring) {
    TRY(sql.run("ROLLBACK TO meeting"));
    TRY(sql.run("RELEASE meeting"));
    return claims_more(context, sql, call, site);
  }
  TRY(sql.run("RELEASE meeting"));
  if (instance != site.instance) TRY(note_takeover(sql, site, box, copied));
  TRY(register_instance(context, sql, call, site, instance, counter));
  TRY(heard(sql, call, site));
  sync::Position mine = TRY(sync::position(sql, end));
  const bool restored = copied || meeting.theirs == sync::Standing::kRestored;
  const std::optional<store::SiteBox> former = TRY(former_agent(sql, site.site, call.now_ms));
  if (meeting.mine == sync::Standing::kRestored) {
    log_line(LogEvent::kSiteRestored,
             {{"message", "the coordinator's own rows for site " + site.site +
                              " are older than the site's copy; they are pulled back"}});
  }
  return reply({{"time", format_time(call.now_ms)},
                {"verdict", restored ? "restored" : "go"},
                {"former", former_json(former)},
                {"stream", sync::position_json(mine)}});
}

// From an agent that was answered SUPERSEDED. Its certificate may be one of a former enrolment.
Result<Reply> stopped(const CentreContext&, Sql& sql, Call& call) {
  TRY(check_keys(call.body, {}, "the word that an agent stopped"));
  const store::Site site = TRY(store::need_site(sql, call.who.site));
  std::optional<store::SiteBox> former = TRY(former_agent(sql, site.site, call.now_ms));
  if (former.has_value() && former->former == call.instance) {
    TRY(former_stopped(sql, *former));
    TRY(own_event(sql, call, "site.former-agent-stopped", site.site, "", Json::object()));
  }
  return reply(Json::object());
}

bool is_chunk(const std::string& text) {
  const size_t rows = text.find(",\"rows\":[");
  return text.substr(0, rows).find("\"ticket\":") != std::string::npos;
}

Status apply_chunk(Sql& sql, Arrival& arrival, const sync::End& end, const std::string& text) {
  sync::Chunk chunk = TRY(sync::decode_chunk(text));
  const bool own = chunk.request.owner == RowOwner::kCoordinator;
  sync::ChunkApplied applied = TRY(sync::apply_chunk(
      sql, end, chunk, *arrival.context.random, [&](Sql& inner, const RowChange& change) {
        return own ? own_row_came_back(inner, arrival, change)
                   : row_arrived(inner, arrival, change);
      }));
  if (own || !applied.applied || applied.next.has_value()) return {};
  return judge_evidence(sql, arrival);
}

Status apply_batch(Sql& sql, Arrival& arrival, const sync::End& end, const std::string& text,
                   bool& must_refetch) {
  sync::Batch batch = TRY(sync::decode_batch(text));
  sync::Applied applied =
      TRY(sync::apply_batch(sql, end, batch, [&](Sql& inner, const RowChange& change) {
        return row_arrived(inner, arrival, change);
      }));
  must_refetch = applied.must_refetch;
  if (applied.must_refetch) return sync::want_snapshot(sql, end, *arrival.context.random);
  return applied.rows > 0 ? judge_evidence(sql, arrival) : Status();
}

// Rows that were refused will be refused again, so that people must see it.
bool is_alarming(const Error& error) {
  return error.code == Code::kForbidden || error.code == Code::kInvalidInput ||
         error.code == Code::kMalformed || error.code == Code::kTooLarge ||
         error.code == Code::kInternal;
}

Status clear_alarm(Sql& sql, store::Site& site) {
  if (site.alarm_code.empty()) return {};
  site.alarm_code.clear();
  site.alarm.clear();
  return store::put_site(sql, site);
}

Result<Reply> push(const CentreContext& context, Sql& sql, Call& call) {
  store::Site site = TRY(linked_site(context, sql, call));
  const sync::End end = sync::End::of_coordinator(site.site);
  Arrival arrival{context, site.site, call.now_ms, call.touched};
  bool must_refetch = false;
  TRY(sql.run("SAVEPOINT rows"));
  Status applied = is_chunk(call.text_body)
                       ? apply_chunk(sql, arrival, end, call.text_body)
                       : apply_batch(sql, arrival, end, call.text_body, must_refetch);
  if (!applied.ok()) {
    const Code code = applied.error().code;
    if (code == Code::kIo || code == Code::kDatabase) return applied.error();
    call.touched.clear();
    TRY(sql.run("ROLLBACK TO rows"));
  }
  TRY(sql.run("RELEASE rows"));
  if (!applied.ok()) {
    if (is_alarming(applied.error())) TRY(raise_alarm(sql, arrival, site, applied.error()));
    Reply refused;
    refused.refused = applied.error();
    return refused;
  }
  call.unaudited = true;
  TRY(clear_alarm(sql, site));
  TRY(heard(sql, call, site));
  sync::Position mine = TRY(sync::position(sql, end));
  return reply({{"cursor", sync::position_json(mine)}, {"mustRefetch", must_refetch}});
}

Result<Reply> pull(const CentreContext& context, Sql& sql, Call& call) {
  TRY(check_keys(call.body, {"cursor", "wait"}, "a pull"));
  sync::Cursor from = TRY(sync::parse_cursor(TRY(json_object(call.body, "cursor"))));
  store::Site site = TRY(linked_site(context, sql, call));
  const sync::End end = sync::End::of_coordinator(site.site);
  TRY(sync::acknowledge(sql, end, from.incarnation, from.seq));
  sync::Outgoing out = TRY(sync::read_batch(sql, end, from));
  const bool moved = !out.must_refetch && from.seq != site.acknowledged;
  if (moved) {
    site.acknowledged = from.seq;
    TRY(store::put_site(sql, site));
  }
  TRY(heard(sql, call, site));
  call.unaudited = true;
  if (!out.must_refetch && out.upto == from.seq && call.may_wait) {
    return reply_after(stream_topic(site.site));
  }
  return reply_bytes(std::move(out.text), kJsonType);
}

Result<Reply> chunk(const CentreContext& context, Sql& sql, Call& call) {
  sync::ChunkRequest request = TRY(sync::parse_chunk_request(call.body));
  store::Site site = TRY(linked_site(context, sql, call));
  std::string text = TRY(sync::read_chunk(sql, sync::End::of_coordinator(site.site), request));
  TRY(heard(sql, call, site));
  return reply_bytes(std::move(text), kJsonType);
}

Result<Reply> hashes(const CentreContext& context, Sql& sql, Call& call) {
  sync::TableHashes theirs = TRY(sync::parse_table_hashes(call.body));
  store::Site site = TRY(linked_site(context, sql, call));
  const sync::End end = sync::End::of_coordinator(site.site);
  std::vector<std::string> differing = TRY(sync::differing_tables(sql, end, theirs));
  if (!differing.empty()) {
    Arrival arrival{context, site.site, call.now_ms, call.touched};
    log_line(LogEvent::kSyncDiverged, {{"site", site.site}, {"tables", differing}});
    TRY(tell_event(sql, arrival, "site.diverged", "", {{"tables", differing}}));
    if (theirs.owner == RowOwner::kSite) TRY(sync::want_snapshot(sql, end, *context.random));
  }
  return reply({{"equal", differing.empty()}, {"tables", std::move(differing)}});
}

}  // namespace

std::vector<Route> sync_routes() {
  return {{"POST", "/v1/sync/hello", MayCall::kSite, "", hello},
          {"POST", "/v1/sync/stopped", MayCall::kSite, "", stopped},
          {"POST", "/v1/sync/push", MayCall::kSite, "", push, true},
          {"POST", "/v1/sync/pull", MayCall::kSite, "", pull},
          {"POST", "/v1/sync/chunk", MayCall::kSite, "", chunk},
          {"POST", "/v1/sync/hashes", MayCall::kSite, "", hashes}};
}

}  // namespace leasehold
