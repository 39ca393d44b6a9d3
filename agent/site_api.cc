#include "agent/site_api.h"

#include <charconv>

#include "agent/workflows/names.h"
#include "core/base/log.h"
#include "core/evidence/bundle_rows.h"
#include "core/rows/coordinator_rows.h"

namespace leasehold {
namespace {

constexpr size_t kTimelineKept = 10'000;
constexpr int64_t kWatchMs = 25'000;

HttpResponse ok_response(const Json& body) { return json_response(200, dump_json(body)); }

// "/v1/nodes/n1/commands" -> {"v1","nodes","n1","commands"}.
std::vector<std::string> segments(const std::string& path) {
  std::vector<std::string> parts;
  size_t at = 0;
  while (at < path.size()) {
    size_t end = path.find('/', at + 1);
    if (end == std::string::npos) end = path.size();
    parts.push_back(path.substr(at + 1, end - at - 1));
    at = end;
  }
  return parts;
}

Json progress_json(const RunProgress& run) {
  return Json{{"run", run.run.id.str()},
              {"node", run.run.node.str()},
              {"workflow", run.run.workflow},
              {"place", run.place},
              {"title", run.title},
              {"pass", run.pass},
              {"attempt", run.attempt},
              {"waitingFor", scrubbed(run.waiting_for)},
              {"since", format_time(run.since_ms)}};
}

// A release gives its machine back in its exit, an enrolment when it has succeeded.
Result<bool> gave_back(Sql& sql, const Json& run) {
  if (json_text(run, "workflow") == kEnrolWorkflow) return json_text(run, "state") == "succeeded";
  Json lease = TRY(Store::get(sql, "lease", json_text(run, "lease")));
  int64_t left_in = json_int_or(lease, "exitGeneration", 0).value_or(0);
  return left_in != 0 && left_in == TRY(json_int(run, "generation")) + 1;
}

Result<std::vector<ResultRow>> results_of_run(Sql& sql, const std::string& run) {
  Json row = TRY(Store::get(sql, "run", run));
  if (row.is_null()) return Error(Code::kNotFound, "there is no run \"" + run + "\"");
  if (!TRY(gave_back(sql, row))) {
    return Error(Code::kConflict, "run " + run +
                                      " has not given its machine back: what it signed " +
                                      "on the way shows nothing");
  }
  std::vector<ResultRow> found;
  for (const Json& result : TRY(Store::of_run(sql, "result", RunId(run)))) {
    if (json_text(result, "run") == run) found.push_back(TRY(ResultRow::parse(result)));
  }
  return found;
}

// What the coordinator found in the evidence that made this node ready: "clean", "unverified",
// "refused", or "none" so far.
Result<std::string> clearance_of(Sql& sql, const Json& node) {
  std::string run = json_text(node, "cleanRun");
  if (run.empty()) return std::string("none");
  Json row = TRY(Store::get(sql, "clearance", run));
  if (row.is_null()) return std::string("none");
  Result<ClearanceRow> clearance = ClearanceRow::parse(row);
  if (!clearance.ok()) return std::string("none");
  return std::string(clearance_verdict_name(clearance.value().verdict));
}

// What the `step` row of the place in progress would say.
Json step_in_progress(const Json& run) {
  Json step = {{"state", "started"}, {"startedAt", json_member(run, "placeStartedAt")}};
  for (const char* same : {"run", "node", "place", "title", "group", "pass", "attempt"}) {
    step[same] = json_member(run, same);
  }
  step["finishedAt"] = "";
  return step;
}

}  // namespace

SiteApi::SiteApi(Loop& loop, Database& database, Engine& engine, const Tools& tools, Doors doors)
    : loop_(loop),
      database_(database),
      engine_(engine),
      tools_(tools),
      doors_(std::move(doors)),
      intake_(engine, tools) {}

void SiteApi::handle(const ServerRequest& request, Responder respond) {
  std::vector<std::string> path = segments(request.path);
  bool get = request.method == "GET" || request.method == "HEAD";
  bool post = request.method == "POST";
  Status may = post ? doors_.may_begin() : Status();
  if (!may.ok()) return respond(error_response(may.error()));
  if (post && request.path == "/v1/rows") return post_rows(request, respond);
  if (post && request.path == "/v1/nodes") return post_node(request, respond);
  if (post && request.path == "/v1/enrolments") return post_enrolments(request, respond);
  if (get && request.path == "/v1/status") return status(respond);
  if (get && request.path == "/v1/timeline") return timeline(request, respond);
  if (path.size() == 3 && get && path[1] == "nodes") return one_row("node", path[2], respond);
  if (path.size() == 3 && get && path[1] == "runs") return run_detail(path[2], respond);
  if (path.size() == 4 && path[1] == "runs" && get && path[3] == "evidence") {
    return evidence(path[2], respond);
  }
  if (path.size() == 4 && path[1] == "nodes" && post && path[3] == "commands") {
    return node_command(path[2], respond);
  }
  respond(error_response(
      Error(Code::kNotFound, "there is no " + request.method + " " + request.path.substr(0, 100))));
}

void SiteApi::post_rows(const ServerRequest& request, Responder respond) {
  Json centre = doors_.centre();
  if (!centre.is_null()) {
    return respond(error_response(
        Error(Code::kForbidden, "this site is told what to do by its coordinator at " +
                                    json_text(centre, "url") +
                                    " only; use the command `leasehold` there")));
  }
  Result<Json> body = parse_json(request.body);
  if (!body.ok()) {
    return respond(error_response(Error(Code::kInvalidInput, body.error().message)));
  }
  Status known = check_keys(body.value(), {"rows"}, "the request");
  if (!known.ok()) return respond(error_response(known.error()));
  auto outcome = std::make_shared<IntakeOutcome>();
  auto apply = [this, rows = json_member(body.value(), "rows"), outcome](Sql& sql) -> Status {
    *outcome = TRY(intake_.apply(sql, rows));
    return {};
  };
  database_.transact(apply, [this, outcome, respond](Status applied) {
    if (!applied.ok()) return respond(error_response(applied.error()));
    log_work_results(*outcome);
    for (const RunId& run : outcome->to_launch) engine_.launch(run);
    respond(ok_response(Json{{"work_results", outcome->work_results}}));
  });
}

void SiteApi::post_node(const ServerRequest& request, Responder respond) {
  Result<Json> body = parse_json(request.body);
  if (!body.ok()) {
    return respond(error_response(Error(Code::kInvalidInput, body.error().message)));
  }
  answer_from(
      [this, adoption = std::move(body).value()](Sql& sql) { return intake_.adopt(sql, adoption); },
      respond);
}

// Credentials enter at the site: this door is open whether or not there is a coordinator.
void SiteApi::post_enrolments(const ServerRequest& request, Responder respond) {
  Result<Json> body = parse_json(request.body);
  if (!body.ok()) {
    return respond(error_response(Error(Code::kInvalidInput, body.error().message)));
  }
  Status known = check_keys(body.value(), {"enrolments"}, "the request");
  if (!known.ok()) return respond(error_response(known.error()));
  auto outcome = std::make_shared<EnrolOutcome>();
  auto apply = [this, list = json_member(body.value(), "enrolments"), outcome](Sql& sql) -> Status {
    *outcome = TRY(intake_.enrol(sql, list));
    return {};
  };
  database_.transact(apply, [this, outcome, respond](Status applied) {
    if (!applied.ok()) return respond(error_response(applied.error()));
    for (const RunId& run : outcome->to_launch) engine_.launch(run);
    respond(ok_response(Json{{"enrolments", outcome->enrolments}}));
  });
}

void SiteApi::answer_from(std::function<Result<Json>(Sql&)> read, Responder respond) {
  auto made = std::make_shared<Json>();
  auto transaction = [read = std::move(read), made](Sql& sql) -> Status {
    *made = TRY(read(sql));
    return {};
  };
  database_.transact(transaction, [made, respond](Status done) {
    respond(done.ok() ? ok_response(*made) : error_response(done.error()));
  });
}

void SiteApi::status(Responder respond) {
  Json runs = Json::array();
  for (const RunProgress& run : engine_.open_runs()) runs.push_back(progress_json(run));
  Json head = {{"site", tools_.identity->site},
               {"runs", runs},
               {"gateway", doors_.gateway_connected() ? "connected" : "not connected"},
               {"bootd", doors_.bootd_reachable() ? "reachable" : "not reachable"},
               {"coordinator", doors_.centre()}};
  answer_from(
      [head](Sql& sql) -> Result<Json> {
        Json answer = head;
        Json nodes = Json::array();
        for (Json& node : TRY(Store::all(sql, "node"))) {
          node["clearance"] = TRY(clearance_of(sql, node));
          nodes.push_back(std::move(node));
        }
        answer["nodes"] = std::move(nodes);
        Json authority = TRY(Store::get(sql, "authority", AuthorityRow::kKey));
        answer["authorityUntil"] = json_text(authority, "until");
        return answer;
      },
      respond);
}

void SiteApi::one_row(const std::string& table, const std::string& key, Responder respond) {
  answer_from(
      [table, key](Sql& sql) -> Result<Json> {
        Json row = TRY(Store::get(sql, table, key));
        if (row.is_null()) {
          return Error(Code::kNotFound, "there is no " + table + " \"" + key.substr(0, 80) + "\"");
        }
        return row;
      },
      respond);
}

void SiteApi::run_detail(const std::string& run, Responder respond) {
  answer_from(
      [run](Sql& sql) -> Result<Json> {
        Json row = TRY(Store::get(sql, "run", run));
        if (row.is_null()) return Error(Code::kNotFound, "there is no run \"" + run + "\"");
        Json steps = TRY(Store::of_run(sql, "step", RunId(run)));
        if (json_int_or(row, "attempt", 0).value_or(0) > 0) steps.push_back(step_in_progress(row));
        row["steps"] = std::move(steps);
        return row;
      },
      respond);
}

void SiteApi::evidence(const std::string& run, Responder respond) {
  auto text = std::make_shared<std::string>();
  auto read = [run, text](Sql& sql) -> Status {
    std::vector<ResultRow> results = TRY(results_of_run(sql, run));
    Json row = TRY(Store::get(sql, "receipt", run));
    Json receipt;
    if (!row.is_null()) receipt = TRY(ReceiptRow::parse(row)).receipt;
    *text = TRY(bundle_of(results, std::move(receipt)));
    return {};
  };
  database_.transact(read, [text, respond](Status done) {
    if (!done.ok()) return respond(error_response(done.error()));
    respond(json_response(200, *text));
  });
}

void SiteApi::node_command(const std::string& node, Responder respond) {
  answer_from(
      [node](Sql& sql) -> Result<Json> {
        NodeRow row = TRY(Store::node(sql, NodeId(node)));
        if (row.trust == Trust::kTenantControlled) {
          return Error(Code::kTenantControlled,
                       "node " + node + " is under a tenant's control; only a teardown acts on it");
        }
        return Error(Code::kForbidden, "only an open run of the engine commands a machine");
      },
      respond);
}

void SiteApi::run_event(const RunEvent& event) {
  timeline_.push_back(Json{{"n", ++timeline_count_},
                           {"run", event.run.id.str()},
                           {"node", event.run.node.str()},
                           {"workflow", event.run.workflow},
                           {"kind", event.kind},
                           {"place", event.place},
                           {"group", event.group},
                           {"title", event.title},
                           {"detail", scrubbed(event.detail)},
                           {"pass", event.pass},
                           {"at", format_time(event.at_ms)},
                           {"tookMs", event.took_ms}});
  if (timeline_.size() > kTimelineKept) timeline_.pop_front();
  std::map<uint64_t, Watcher> woken;
  woken.swap(watchers_);
  for (auto& [connection, watcher] : woken) {
    loop_.cancel(watcher.timer);
    watcher.respond(ok_response(Json{{"events", timeline_after(watcher.after)}}));
  }
}

Json SiteApi::timeline_after(int64_t after) const {
  Json events = Json::array();
  for (const Json& event : timeline_) {
    if (event["n"].get<int64_t>() > after) events.push_back(event);
  }
  return events;
}

void SiteApi::timeline(const ServerRequest& request, Responder respond) {
  std::string text = query_value(request.query, "after");
  int64_t after = 0;
  std::from_chars(text.data(), text.data() + text.size(), after);
  // A restarted agent counts anew: whoever is ahead of it sees everything once more.
  if (after > timeline_count_) after = 0;
  Json events = timeline_after(after);
  if (!events.empty()) return respond(ok_response(Json{{"events", events}}));
  uint64_t connection = request.connection;
  uint64_t timer = loop_.after(kWatchMs, [this, connection] {
    auto it = watchers_.find(connection);
    if (it == watchers_.end()) return;
    Responder waiting = std::move(it->second.respond);
    watchers_.erase(it);
    waiting(ok_response(Json{{"events", Json::array()}}));
  });
  watchers_[connection] = Watcher{after, std::move(respond), timer};
}

void SiteApi::connection_closed(uint64_t connection) {
  auto it = watchers_.find(connection);
  if (it == watchers_.end()) return;
  loop_.cancel(it->second.timer);
  watchers_.erase(it);
}

}  // namespace leasehold
