#include "coordinator/cli/node_work.h"

#include <algorithm>

#include "coordinator/cli/runs.h"

namespace leasehold {
namespace {

constexpr int64_t kPollS = 20;  // of one call; the coordinator holds it for 25 s at most
constexpr int64_t kAgainMs = 250;

bool pending(const Json& work) { return json_text(work, "state") == "pending"; }
bool refused(const Json& work) { return json_text(work, "state") == "refused"; }

// "release of s1/n1"; "maintenance off of s1/n1"
std::string subject(const Json& work, const std::string& more = "") {
  return json_text(work, "kind") + more + " of " + place_name(work);
}

std::string question(const std::string& kind, const Json& node) {
  const std::string lease = json_text(node, "lease");
  return kind + " of " + place_name(node) + " (pool " + json_text(node, "pool") +
         (lease.empty() ? "" : ", lease " + lease) +
         ") switches it off and erases every disk of it";
}

Result<Json> wait_for_answer(Session& session, const Json& asked, int64_t wait_s) {
  PatientClient patient(session);
  Clock& clock = session.console.clock;
  const int64_t deadline_ms = clock.monotonic_ms() + wait_s * 1000;
  const std::string path = "/v1/works/" + url_part(json_text(asked, "work"));
  Json work = asked;
  while (pending(work)) {
    const int64_t left_ms = deadline_ms - clock.monotonic_ms();
    if (left_ms <= 0) break;
    const int64_t poll_s = std::clamp<int64_t>(left_ms / 1000, 1, kPollS);
    const int64_t begun_ms = clock.monotonic_ms();
    work = TRY(patient.get(path + "?wait=" + std::to_string(poll_s), poll_s, deadline_ms));
    // An answer that came at once says nothing new: the coordinator may not be waiting for us.
    if (pending(work) && clock.monotonic_ms() - begun_ms < kAgainMs) clock.sleep_ms(kAgainMs);
  }
  return work;
}

Error refusal(const Json& work) {
  const Code code = code_from_name(json_text(work, "code")).value_or(Code::kRefused);
  // A code of the closed list; INVALID_INPUT here is the site's word, not a typing mistake.
  return advised(
      Error(code == Code::kInvalidInput ? Code::kRefused : code,
            "the site refused the " + subject(work) + ": " + json_text(work, "message")));
}

Error unanswered(Session& session, const Json& work) {
  const std::string site = json_text(work, "site");
  std::string heard;
  const Result<Json> row = session.api.get("/v1/sites/" + url_part(site));
  if (row.ok()) {
    const std::string contact = json_text(row.value(), "lastContactAt");
    heard = contact.empty() ? "; it has never been in contact"
                            : "; it was last in contact at " + session.console.time_long(contact);
  }
  return Error(Code::kTimeout, "site " + site + " has not answered the " + subject(work) + " yet" +
                                   heard +
                                   ". It is done when the site hears of it; see: leasehold " +
                                   "work show " + json_text(work, "work"));
}

std::string accepted_text(const Json& work, const std::string& more) {
  const std::string run = json_text(work, "run");
  const std::string text = subject(work, more) + ": accepted" + (run.empty() ? "" : ", run " + run);
  return harmless(text) + "\n";
}

// What is left to say once the site has accepted.
Result<int> finish_accepted(Session& session, const NodeWorkOptions& options, const Json& work) {
  const Console& console = session.console;
  const std::string run = json_text(work, "run");
  const std::string more = options.kind == "maintenance" ? (options.on ? " on" : " off") : "";
  if (!console.json) console.print(accepted_text(work, more));
  if (run.empty() || !options.watch) {
    if (console.json) console.print_json(work);
    if (!console.json && !run.empty()) {
      console.print("Follow it: leasehold run watch " +
                    harmless(json_text(work, "site") + "/" + run) + "\n");
    }
    return kExitDone;
  }
  const Json found = TRY(find_in_sites(session, "runs", json_text(work, "site") + "/" + run));
  const Json ended = TRY(follow_run(session, found));
  if (console.json) console.print_json({{"work", work}, {"run", ended}});
  return run_exit_code(ended);
}

Result<Json> ask(Session& session, const NodeWorkOptions& options, const Json& node) {
  Json body = {{"kind", options.kind}, {"reason", options.reason}};
  if (options.kind == "maintenance") body["on"] = options.on;
  return session.api.send("POST", path_of("nodes", node, "node") + "/work", body);
}

}  // namespace

Result<int> node_work(Session& session, const NodeWorkOptions& options) {
  const Console& console = session.console;
  const Json node = TRY(find_in_sites(session, "nodes", options.node));
  if (options.kind == "release" || options.kind == "recover") {
    TRY(confirm(console, options.yes, question(options.kind, node), json_text(node, "node")));
  }
  Json work = TRY(ask(session, options, node));
  if (options.no_wait) {
    if (console.json) {
      console.print_json(work);
    } else {
      console.print(harmless(subject(work) + ": asked for; see: leasehold work show " +
                             json_text(work, "work")) +
                    "\n");
    }
    return kExitDone;
  }
  work = TRY(wait_for_answer(session, work, options.wait_s));
  if (!pending(work) && !refused(work)) return finish_accepted(session, options, work);
  if (console.json) console.print_json(work);
  return refused(work) ? refusal(work) : unanswered(session, work);
}

Status work_show(Session& session, const std::string& id, int64_t wait_s) {
  TRY(check_id(id, "WORK"));
  Json work = TRY(session.api.get("/v1/works/" + url_part(id)));
  work = TRY(wait_for_answer(session, work, wait_s));
  const Console& console = session.console;
  if (console.json) {
    console.print_json(work);
    return {};
  }
  std::vector<Field> fields = {{"work", json_text(work, "work")},
                               {"node", place_name(work)},
                               {"kind", json_text(work, "kind")},
                               {"state", json_text(work, "state")},
                               {"created", console.time_long(json_text(work, "createdAt"))}};
  const std::string answered = json_text(work, "answeredAt");
  if (!answered.empty()) fields.push_back({"answered", console.time_long(answered)});
  if (refused(work)) {
    fields.push_back({"refusal", json_text(work, "code") + ": " + json_text(work, "message")});
  }
  if (!json_text(work, "run").empty()) fields.push_back({"run", json_text(work, "run")});
  console.print_fields(fields);
  return {};
}

}  // namespace leasehold
