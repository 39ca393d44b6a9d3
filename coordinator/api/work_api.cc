// What an operator asks of a site about one machine, as a row that says by itself what it is about,
// and the site's answer to it.
#include "coordinator/api/node_views.h"
#include "coordinator/api/routes.h"
#include "coordinator/clearance/arrival.h"
#include "coordinator/limits.h"
#include "coordinator/store/site_rows.h"

namespace leasehold {
namespace {

struct Kind {
  std::string_view name;
  std::string_view state;  // in which a node must be for it; empty: any
};
constexpr Kind kKinds[] = {{"release", "deployed"},
                           {"recover", "failed"},
                           {"maintenance", ""},
                           {"quarantine", "ready"},
                           {"inspect", "ready"}};

Result<Kind> kind_of(const Json& body) {
  const std::string given = TRY(json_string(body, "kind"));
  std::string known;
  for (const Kind& kind : kKinds) {
    if (kind.name == given) return kind;
    known += " " + std::string(kind.name);
  }
  return Error(Code::kInvalidInput, "\"" + given.substr(0, 64) + "\" is none of" + known, "kind");
}

// What the intent is about, as the coordinator knows the node: refused by the site if it changed.
Json expects_of(const Kind& kind, const Json& node, bool on) {
  Json expects = Json::object();
  if (kind.name == "maintenance") {
    // Taking it out of maintenance is about the failure that somebody has looked at.
    if (on) return expects;
    expects["state"] = json_text(node, "state");
    const std::string failed = json_text(json_member(node, "failure"), "run");
    if (!failed.empty()) expects["run"] = failed;
    return expects;
  }
  expects["state"] = json_text(node, "state");
  expects["lease"] = json_text(node, "lease");
  const std::string failed = json_text(json_member(node, "failure"), "run");
  if (kind.name == "recover" && !failed.empty()) expects["run"] = failed;
  return expects;
}

Json work_json(const store::Work& work, const Json& answer) {
  std::string state = "pending";
  if (work.answered_at_ms != 0) {
    state = json_bool_or(answer, "accepted", false).value_or(false) ? "accepted" : "refused";
  }
  return {{"work", work.work},
          {"site", work.site},
          {"node", work.node},
          {"kind", work.kind},
          {"state", state},
          {"code", json_text(answer, "code")},
          {"message", json_text(answer, "message")},
          {"run", json_text(answer, "run")},
          {"createdAt", format_time(work.created_at_ms)},
          {"answeredAt", work.answered_at_ms == 0 ? "" : format_time(work.answered_at_ms)}};
}

Result<Reply> post_work(const CentreContext& context, Sql& sql, Call& call) {
  TRY(check_keys(call.body, {"kind", "on", "reason"}, "a work"));
  Kind kind = TRY(kind_of(call.body));
  NewWork work;
  work.kind = kind.name;
  work.on = TRY(json_bool_or(call.body, "on", true));
  work.reason = TRY(json_string_or(call.body, "reason", ""));
  work.by = call.who_uri();
  if (call.body.contains("on") && kind.name != "maintenance") {
    return Error(Code::kInvalidInput, "\"on\" is for the kind maintenance", "on");
  }
  if (kind.name == "maintenance") TRY(json_bool(call.body, "on"));
  if (work.reason.size() > limits::kReasonBytes) {
    return Error(Code::kInvalidInput, "a reason has at most 500 characters", "reason");
  }
  store::NodeKey key = TRY(need_node(sql, call.args[0], call.args[1]));
  Json node = TRY(store::site_row(sql, key.site, "node", key.node));
  const std::string state = json_text(node, "state");
  if (!kind.state.empty() && state != kind.state) {
    return Error(Code::kConflict, "the node is " + state + "; " + work.kind +
                                      " is for a node that is " + std::string(kind.state));
  }
  work.node = key.node;
  work.expects = expects_of(kind, node, work.on);
  Arrival arrival{context, key.site, call.now_ms, call.touched};
  std::string id = TRY(add_work(sql, arrival, work));
  std::optional<store::Work> made = TRY(store::find_work(sql, id));
  Reply made_reply = reply(work_json(made.value(), Json()));
  made_reply.status = 202;
  return made_reply;
}

Result<Reply> get_work(const CentreContext&, Sql& sql, Call& call) {
  std::optional<store::Work> work = TRY(store::find_work(sql, call.args[0]));
  if (!work.has_value()) {
    return Error(Code::kNotFound, "there is no work \"" + call.args[0].substr(0, 64) + "\"",
                 "work");
  }
  if (work->answered_at_ms == 0 && call.may_wait) return reply_after(work_topic(work->work));
  Json answer = TRY(store::site_row(sql, work->site, "work_result", work->work));
  return reply(work_json(*work, answer));
}

}  // namespace

std::vector<Route> work_routes() {
  return {{"POST", "/v1/nodes/*/*/work", MayCall::kOperator, "", post_work},
          {"GET", "/v1/works/*", MayCall::kOperator, "wait", get_work}};
}

}  // namespace leasehold
