#include "coordinator/api/api.h"

#include <algorithm>
#include <utility>

#include "coordinator/limits.h"
#include "coordinator/store/records.h"
#include "coordinator/store/sites.h"
#include "core/base/log.h"

namespace leasehold {
namespace {

constexpr size_t kAuditPathBytes = 200;

HttpResponse response_of(const Reply& reply) {
  if (reply.content_type.empty()) return json_response(reply.status, dump_json(reply.body));
  return HttpResponse{reply.status, {{"Content-Type", reply.content_type}}, reply.bytes};
}

// The disk or the database itself: nothing of the transaction may be kept, its audit line included.
bool is_fatal(const Status& status) {
  return !status.ok() &&
         (status.error().code == Code::kIo || status.error().code == Code::kDatabase);
}

bool may_call(MayCall who, const Identity& identity) {
  switch (who) {
    case MayCall::kAnyone:
    case MayCall::kCertified:
      return true;
    case MayCall::kOperator:
      return identity.kind == IdentityKind::kOperator;
    case MayCall::kSite:
      return identity.kind == IdentityKind::kSiteAgent;
  }
  return false;
}

Error refused_chain(const Judgement& judgement) {
  const std::string reason(chain_refusal_name(judgement.refusal));
  const Code code =
      judgement.refusal == ChainRefusal::kKindMayNot ? Code::kForbidden : Code::kUnauthenticated;
  return Error(code, "the client certificate is refused: " + reason + ": " + judgement.detail);
}

// The handler's changes, or none of them, and in either case the call's audit line.
Status run_handler(const Route& route, const CentreContext& context, Sql& sql, Call& call,
                   Reply& reply, Status& status) {
  TRY(sql.run("SAVEPOINT call"));
  Result<Reply> made = route.handler(context, sql, call);
  status = made.ok() ? Status() : Status(made.error());
  if (is_fatal(status)) return status;
  if (!made.ok()) {
    call.touched.clear();
    call.after_commit = nullptr;
    TRY(sql.run("ROLLBACK TO call"));
  }
  TRY(sql.run("RELEASE call"));
  if (made.ok()) reply = std::move(made).value();
  if (reply.refused.has_value()) status = *reply.refused;
  if (!reply.wait_for.empty() && call.may_wait) return {};  // answered later, and audited then
  if (status.ok() ? call.unaudited : call.failure_unaudited) return {};
  const int number = status.ok() ? reply.status : error_response(status.error()).status;
  return audit_call(sql, call, number,
                    status.ok() ? "" : std::string(code_name(status.error().code)));
}

}  // namespace

Status audit_call(Sql& sql, const Call& call, int status, const std::string& code) {
  store::AuditLine line;
  line.at_ms = call.now_ms;
  line.who = call.who_uri();
  line.method = call.method;
  line.path = call.path.substr(0, kAuditPathBytes);
  line.status = status;
  line.code = code;
  line.detail = call.detail;
  return store::add_audit(sql, line);
}

Api::Api(Loop& loop, Database& database, const CentreContext& context)
    : loop_(loop), database_(database), context_(context), routes_(all_routes()) {
  anchors_ = {context.config->root_pem, context.config->domain, {}};
}

Api::~Api() = default;

Status Api::start() {
  return database_.transact_and_wait([this](Sql& sql) -> Status {
    anchors_.site_cas = TRY(store::all_site_cas(sql));
    return {};
  });
}

void Api::reload_site_cas() {
  using Cas = std::vector<std::pair<std::string, std::string>>;
  auto read = std::make_shared<Cas>();  // outlives the transaction on the other thread
  auto load = [read](Sql& sql) -> Status {
    *read = TRY(store::all_site_cas(sql));
    return {};
  };
  database_.transact(load, [this, read](Status done) {
    if (done.ok()) anchors_.site_cas = std::move(*read);
  });
}

Status Api::judge_caller(const ServerRequest& request, const Route& route, Call& call) const {
  if (request.peer_chain_der.empty()) {
    if (route.who == MayCall::kAnyone) return {};
    return Error(Code::kUnauthenticated, "this needs a client certificate");
  }
  JudgeRequest asked;
  asked.chain_der = request.peer_chain_der;
  asked.instant_ms = call.now_ms;
  asked.verb = route.who == MayCall::kSite ? Verb::kSyncRows : Verb::kCallApi;
  Judgement judgement = judge(asked, anchors_);
  if (judgement.allowed) {
    call.known = true;
    call.who = judgement.identity;
    call.serial = judgement.leaf_serial;
    if (may_call(route.who, call.who)) return {};
    return Error(Code::kForbidden,
                 "the kind " + std::string(kind_name(call.who.kind)) + " may not call this");
  }
  if (route.who == MayCall::kAnyone) return {};  // nobody needs to be known here
  if (judgement.refusal == ChainRefusal::kKindMayNot) {
    // Who it is has been shown, all the same.
    call.known = true;
    call.who = judgement.identity;
  }
  return refused_chain(judgement);
}

Status Api::read_request(const ServerRequest& request, Pending& pending) const {
  TRY(check_query(*pending.route, request.query));
  Call& call = pending.call;
  if (request.method == "GET" || request.method == "HEAD") {
    const int64_t wait_s = TRY(call.number("wait", 0, limits::kCentreWaitS));
    pending.wait_until_ms = context_.clock->monotonic_ms() + wait_s * 1000;
    return {};
  }
  if (pending.route->takes_rows) {
    call.text_body = request.body;
    return {};
  }
  if (request.body.empty()) {
    call.body = Json::object();
    return {};
  }
  Result<Json> body = parse_json(request.body, limits::kCentreBodyBytes);
  if (!body.ok()) {
    const bool large = body.error().code == Code::kTooLarge;
    return Error(large ? Code::kTooLarge : Code::kInvalidInput,
                 "the request's body: " + body.error().message);
  }
  call.body = std::move(body).value();
  if (!call.body.is_object()) {
    return Error(Code::kInvalidInput, "the request's body is a JSON object");
  }
  const int64_t wait_s = TRY(json_int_or(call.body, "wait", 0));
  pending.wait_until_ms =
      context_.clock->monotonic_ms() + std::clamp<int64_t>(wait_s, 0, limits::kCentreWaitS) * 1000;
  return {};
}

void Api::handle(const ServerRequest& request, Responder respond) {
  auto pending = std::make_shared<Pending>();
  Call& call = pending->call;
  pending->route = find_route(routes_, request.method, request.path, call.args);
  if (pending->route == nullptr) {
    return respond(error_response(Error(
        Code::kNotFound, "there is no " + request.method + " " + request.path.substr(0, 100))));
  }
  call.method = request.method;
  call.path = request.path;
  call.query = request.query;
  call.instance = header_value(request.headers, "X-Leasehold-Instance");
  call.now_ms = context_.clock->now_ms();
  pending->respond = std::move(respond);
  pending->connection = request.connection;
  Status judged = judge_caller(request, *pending->route, call);
  if (!judged.ok()) {
    log_line(LogEvent::kRequestRefused, {{"peer", request.peer_address},
                                         {"path", request.path.substr(0, kAuditPathBytes)},
                                         {"who", call.who_uri()},
                                         {"code", code_name(judged.error().code)},
                                         {"message", judged.error().message}});
    if (!call.known) return pending->respond(error_response(judged.error()));
    return refuse(pending, judged.error());
  }
  Status read = read_request(request, *pending);
  if (!read.ok()) return refuse(pending, read.error());
  run(pending);
}

// Known callers are audited, whatever became of their call.
void Api::refuse(const PendingPtr& pending, const Error& error) {
  HttpResponse response = error_response(error);
  auto audit = [pending, status = response.status, code = std::string(code_name(error.code))](
                   Sql& sql) { return audit_call(sql, pending->call, status, code); };
  database_.transact(audit, [pending, response](Status audited) {
    pending->respond(audited.ok() ? response : error_response(audited.error()));
  });
}

// Strangers may fail as often as they like; they do not fill the disk with it.
bool Api::may_audit_stranger() {
  const int64_t minute = context_.clock->monotonic_ms() / 60'000;
  if (minute != strangers_minute_) strangers_ = 0;
  strangers_minute_ = minute;
  return strangers_++ < limits::kStrangersAudited;
}

void Api::run(const PendingPtr& pending) {
  pending->call.may_wait = context_.clock->monotonic_ms() < pending->wait_until_ms;
  pending->call.now_ms = context_.clock->now_ms();
  pending->call.touched.clear();
  pending->call.after_commit = nullptr;
  pending->call.failure_unaudited = !pending->call.known && !may_audit_stranger();
  auto outcome = std::make_shared<Outcome>();  // written there, read here
  auto transaction = [this, pending, outcome](Sql& sql) {
    return run_handler(*pending->route, context_, sql, pending->call, outcome->reply,
                       outcome->status);
  };
  database_.transact(transaction, [this, pending, outcome](Status committed) {
    if (!committed.ok()) {
      outcome->status = committed;
      pending->call.touched.clear();
      pending->call.after_commit = nullptr;
      log_line(LogEvent::kCommitFailed, {{"message", committed.error().text()}});
    }
    finished(pending, *outcome);
  });
}

void Api::finished(const PendingPtr& pending, const Outcome& outcome) {
  if (outcome.status.ok() && !outcome.reply.wait_for.empty() && pending->call.may_wait) {
    return park(pending, outcome.reply.wait_for);
  }
  answer(pending, outcome);
  if (pending->call.after_commit) pending->call.after_commit();
  for (const std::string& topic : pending->call.touched) touch(topic);
}

void Api::answer(const PendingPtr& pending, const Outcome& outcome) {
  pending->respond(outcome.status.ok() ? response_of(outcome.reply)
                                       : error_response(outcome.status.error()));
}

void Api::park(const PendingPtr& pending, const std::string& topic) {
  const uint64_t connection = pending->connection;
  pending->topic = topic;
  parked_[connection] = pending;
  waiting_.emplace(topic, connection);
  const int64_t left_ms = pending->wait_until_ms - context_.clock->monotonic_ms();
  pending->timer = loop_.after(std::max<int64_t>(left_ms, 1), [this, pending] {
    pending->timer = 0;
    wake(pending->connection);
  });
}

Api::PendingPtr Api::take_parked(uint64_t connection) {
  auto found = parked_.find(connection);
  if (found == parked_.end()) return nullptr;
  PendingPtr pending = std::move(found->second);
  parked_.erase(found);
  if (pending->timer != 0) loop_.cancel(std::exchange(pending->timer, 0));
  auto [begin, end] = waiting_.equal_range(pending->topic);
  for (auto it = begin; it != end; ++it) {
    if (it->second != connection) continue;
    waiting_.erase(it);
    break;
  }
  return pending;
}

void Api::wake(uint64_t connection) {
  PendingPtr pending = take_parked(connection);
  if (pending != nullptr) run(pending);
}

void Api::touch(const std::string& topic) {
  if (topic == site_cas_topic()) return reload_site_cas();
  std::vector<uint64_t> connections;
  auto [begin, end] = waiting_.equal_range(topic);
  for (auto it = begin; it != end; ++it) connections.push_back(it->second);
  for (uint64_t connection : connections) wake(connection);
}

void Api::connection_closed(uint64_t connection) { take_parked(connection); }

}  // namespace leasehold
