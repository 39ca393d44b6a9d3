#include "agent/machine_door.h"

#include <charconv>

#include "agent/machine_rules.h"
#include "core/base/bytes.h"
#include "core/base/harmless.h"
#include "core/base/log.h"
#include "core/evidence/dsse.h"
#include "core/loop/http_server.h"

namespace leasehold {
namespace {

constexpr int64_t kPollMs = 25'000;
constexpr size_t kNonceMin = 16;
constexpr size_t kNonceMax = 64;
constexpr size_t kRefusalBytes = 400;

HttpResponse ok_response(const Json& body) { return json_response(200, dump_json(body)); }

// What a machine is told is bounded: an error may quote what it sent.
HttpResponse refuse(const MachineRequest& request, Error error) {
  error.message = shortened_bytes(error.message, kRefusalBytes);
  error.field = shortened_bytes(error.field, kRefusalBytes);
  log_line(LogEvent::kRequestRefused, Json{{"path", request.path},
                                           {"peer", request.peer},
                                           {"code", code_name(error.code)},
                                           {"message", error.message}});
  return error_response(error);
}

Result<Json> hello_answer(const Tools& tools, const std::string& body) {
  Json request = TRY(parse_json(body, limits::kHttpBodyBytes));
  std::string nonce = TRY(json_string(request, "nonce"));
  std::string raw = TRY(base64_decode(nonce));
  if (raw.size() < kNonceMin || raw.size() > kNonceMax) {
    return Error(Code::kInvalidInput, "a nonce has 16 to 64 bytes", "nonce");
  }
  const SiteIdentity& site = *tools.identity;
  Json payload = {
      {"nonce", nonce}, {"site", site.site}, {"time", format_time(tools.clock->now_ms())}};
  DsseEnvelope envelope =
      TRY(dsse_sign(site.agent_key_pem, kHelloPayloadType, TRY(canonical_json(payload))));
  Json chain = Json::array();
  for (const std::string& der : TRY(pem_to_der(site.agent_chain_pem))) {
    chain.push_back(der_to_pem(der));
  }
  return Json{{"envelope", envelope.to_json()}, {"chain", chain}};
}

// A refusal is an answer, and what it wrote (a boot claimed twice) is kept; anything else undoes
// the transaction.
bool is_refusal(const Error& error) {
  switch (error.code) {
    case Code::kForbidden:
    case Code::kUnauthenticated:
    case Code::kTenantControlled:
    case Code::kEvidenceRefused:
    case Code::kInvalidInput:
    case Code::kMalformed:
      return true;
    default:
      return false;
  }
}

int64_t after_of(const std::string& query) {
  std::string text = query_value(query, "after");
  int64_t after = 0;
  std::from_chars(text.data(), text.data() + text.size(), after);
  return after;
}

}  // namespace

MachineDoor::MachineDoor(Loop& loop, Database& database, Engine& engine, const Tools& tools)
    : loop_(loop), database_(database), engine_(engine), tools_(tools) {}

void MachineDoor::handle(const MachineRequest& request, Reply reply) {
  Status may = may_begin_();
  if (!may.ok()) return reply(refuse(request, may.error()));
  if (request.method == "POST" && request.path == "/v1/hello") return hello(request, reply);
  if (request.method == "POST" && request.path == "/v1/join") return join(request, reply);
  if (request.method == "GET" && request.path == "/v1/commands") {
    return commands(request, std::move(reply), true);
  }
  if (request.method == "POST" && request.path == "/v1/results") {
    return result(request, std::move(reply));
  }
  if (request.method == "POST" && request.path == "/v1/telemetry") {
    return telemetry(request, std::move(reply));
  }
  reply(refuse(request, Error(Code::kNotFound, "there is no " + request.method + " " +
                                                   request.path.substr(0, 100))));
}

void MachineDoor::hello(const MachineRequest& request, const Reply& reply) {
  Result<Json> answer = hello_answer(tools_, request.body);
  reply(answer.ok() ? ok_response(answer.value()) : refuse(request, answer.error()));
}

void MachineDoor::join(const MachineRequest& request, Reply reply) {
  Result<Json> body = parse_json(request.body, limits::kHttpBodyBytes);
  if (!body.ok()) return reply(refuse(request, body.error()));
  auto outcome = std::make_shared<Result<JoinOutcome>>(Error(Code::kInternal, "not decided"));
  auto concerned = std::make_shared<RunId>();
  auto decide = [this, body = std::move(body).value(), outcome, concerned](Sql& sql) -> Status {
    // A refusal may still have rows to write (claimed-twice), so it does not undo the transaction.
    *outcome = decide_join(sql, tools_, body, concerned.get());
    return outcome->ok() || is_refusal(outcome->error()) ? Status() : Status(outcome->error());
  };
  auto answer = [this, request, reply = std::move(reply), outcome, concerned](Status committed) {
    if (!committed.ok()) return reply(refuse(request, committed.error()));
    if (!outcome->ok()) {
      reply(refuse(request, outcome->error()));
      return wake(*concerned);
    }
    log_line(LogEvent::kRamdiskJoined,
             Json{{"run", outcome->value().run.str()}, {"peer", request.peer}});
    reply(ok_response(outcome->value().answer));
    engine_.post_event(outcome->value().run, "ramdisk.joined");
  };
  database_.transact(std::move(decide), std::move(answer));
}

void MachineDoor::commands(const MachineRequest& request, Reply reply, bool may_wait) {
  struct Found {
    Result<Json> commands = Error(Code::kInternal, "not decided");
    std::string node;
  };
  auto found = std::make_shared<Found>();
  auto look = [this, request, found](Sql& sql) -> Status {
    Result<RamdiskCaller> caller =
        judge_ramdisk(sql, tools_, request.chain_der, Verb::kRamdiskCommand);
    if (!caller.ok()) {
      found->commands = caller.error();
      return {};
    }
    found->node = caller.value().node.id.str();
    found->commands = open_commands(sql, caller.value(), after_of(request.query));
    return {};
  };
  auto answer = [this, request, reply = std::move(reply), found, may_wait](Status looked) {
    if (!looked.ok()) return reply(refuse(request, looked.error()));
    if (!found->commands.ok()) return reply(refuse(request, found->commands.error()));
    tools_.sightings->seen(found->node, tools_.clock->monotonic_ms());
    if (found->commands.value().empty() && may_wait) return park(request, reply, found->node);
    reply(ok_response(Json{{"commands", found->commands.value()}}));
  };
  database_.transact(std::move(look), std::move(answer));
}

void MachineDoor::telemetry(const MachineRequest& request, Reply reply) {
  Json body = parse_json(request.body, limits::kHttpBodyBytes).value_or(Json());
  auto caller = std::make_shared<Result<RamdiskCaller>>(Error(Code::kInternal, "not decided"));
  auto look = [this, request, body, caller](Sql& sql) -> Status {
    *caller = judge_ramdisk(sql, tools_, request.chain_der, Verb::kRamdiskCommand);
    std::string problem = json_text(body, "error");
    if (!caller->ok() || problem.empty()) return {};
    return refuse_command(sql, caller->value(), json_text(body, "command"),
                          "the ramdisk could not do it: " + problem);
  };
  database_.transact(look, [this, request, reply = std::move(reply), caller](Status looked) {
    if (!looked.ok()) return reply(refuse(request, looked.error()));
    if (!caller->ok()) return reply(refuse(request, caller->error()));
    const std::string& node = caller->value().node.id.str();
    tools_.sightings->seen(node, tools_.clock->monotonic_ms());
    reply(ok_response(Json::object()));
    engine_.post_event(caller->value().ramdisk.run, "result");
  });
}

// A refusal that wrote a row: the run's step looks at once, whatever it waits for.
void MachineDoor::wake(const RunId& run) {
  if (run.empty()) return;
  engine_.post_event(run, "ramdisk.joined");
  engine_.post_event(run, "result");
}

void MachineDoor::park(const MachineRequest& request, Reply reply, const std::string& node) {
  uint64_t connection = request.connection;
  uint64_t timer = loop_.after(kPollMs, [this, connection] {
    auto it = waiting_.find(connection);
    if (it == waiting_.end()) return;
    WaitingPoll poll = std::move(it->second);
    waiting_.erase(it);
    commands(poll.request, std::move(poll.reply), false);
  });
  waiting_[connection] = WaitingPoll{request, std::move(reply), node, timer};
}

void MachineDoor::commands_changed(const std::string& node) {
  std::vector<WaitingPoll> woken;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (it->second.node != node) {
      ++it;
      continue;
    }
    loop_.cancel(it->second.timer);
    woken.push_back(std::move(it->second));
    it = waiting_.erase(it);
  }
  for (WaitingPoll& poll : woken) commands(poll.request, std::move(poll.reply), true);
}

void MachineDoor::connection_closed(uint64_t connection) {
  auto it = waiting_.find(connection);
  if (it == waiting_.end()) return;
  loop_.cancel(it->second.timer);
  waiting_.erase(it);
}

void MachineDoor::result(const MachineRequest& request, Reply reply) {
  Result<Json> body = parse_json(request.body, limits::kEvidenceBytes);
  if (!body.ok()) return reply(refuse(request, body.error()));
  auto outcome = std::make_shared<Result<ResultOutcome>>(Error(Code::kInternal, "not decided"));
  auto concerned = std::make_shared<RunId>();
  auto decide = [this, request, body = std::move(body).value(), outcome,
                 concerned](Sql& sql) -> Status {
    *outcome = decide_result(sql, tools_, request.chain_der, body, concerned.get());
    return outcome->ok() || is_refusal(outcome->error()) ? Status() : Status(outcome->error());
  };
  auto answer = [this, request, reply = std::move(reply), outcome, concerned](Status committed) {
    if (!committed.ok()) return reply(refuse(request, committed.error()));
    if (!outcome->ok()) {
      reply(refuse(request, outcome->error()));
      return wake(*concerned);
    }
    reply(ok_response(Json::object()));
    engine_.post_event(outcome->value().run, "result");
  };
  database_.transact(std::move(decide), std::move(answer));
}

}  // namespace leasehold
