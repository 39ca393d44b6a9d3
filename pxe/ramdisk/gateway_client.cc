#include "pxe/ramdisk/gateway_client.h"

#include <algorithm>

#include "core/base/bytes.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/evidence/signer.h"
#include "core/tls/crypto.h"

namespace leasehold {
namespace {

constexpr size_t kNonceBytes = 32;
constexpr size_t kChainCertificatesMax = 8;

// What the other side may have meant by a status: later, or no.
Error status_error(int status, const std::string& body) {
  Json json = parse_json(body, limits::kRamdiskAnswerBytes).value_or(Json());
  std::string said = printable(json_text(json, "code") + " " + json_text(json, "message"), 200);
  std::string message = "the gateway answered " + std::to_string(status) + " " + said;
  bool later = status >= 500 || status == 408 || status == 429;
  return Error(later ? Code::kUnavailable : Code::kRefused, message);
}

Result<std::vector<std::string>> certificates(const Json& answer) {
  std::vector<std::string> chain;
  for (const Json& pem : TRY(json_array(answer, "chain"))) {
    if (!pem.is_string() || chain.size() >= kChainCertificatesMax) {
      return Error(Code::kMalformed, "the chain is no list of certificates");
    }
    chain.push_back(pem.get<std::string>());
  }
  if (chain.empty()) return Error(Code::kMalformed, "the chain is empty");
  return chain;
}

std::string joined(const std::vector<std::string>& chain) {
  std::string text;
  for (const std::string& pem : chain) text += pem;
  return text;
}

}  // namespace

GatewayClient::GatewayClient(HttpClient& http, const BootFacts& facts, RunDocument document,
                             PlatformClock& clock, Random& random)
    : http_(http), facts_(facts), document_(std::move(document)), clock_(clock), random_(random) {}

GatewayClient::~GatewayClient() {
  wipe_secret(document_.token);
  wipe_secret(identity_.private_key_pem);
}

// Before the first hello there is no time to judge a certificate's life by. What is lost is little:
// the hello itself is judged at the time it names, and every later connection at ours.
Status GatewayClient::judge_gateway(const std::vector<std::string>& chain_der) {
  JudgeRequest request;
  request.chain_der = chain_der;
  request.verb = Verb::kServeGateway;
  request.host = document_.gateway_host;
  request.ignore_validity = !clock_started_;
  request.instant_ms = clock_.now_ms();
  Judgement judgement = judge(request, facts_.anchors);
  std::string refusal(chain_refusal_name(judgement.refusal));
  if (!judgement.allowed) return Error(Code::kForbidden, refusal + ": " + judgement.detail);
  if (judgement.identity.site == document_.site) return {};
  return Error(Code::kForbidden, "the gateway is another site's");
}

HttpOptions GatewayClient::options(int64_t timeout_ms) {
  HttpOptions options;
  options.connect_timeout_ms = limits::kRamdiskConnectMs;
  options.timeout_ms = timeout_ms;
  options.max_body_bytes = limits::kRamdiskAnswerBytes;
  bool bare_ipv6 = document_.gateway_address.find(':') != std::string::npos &&
                   document_.gateway_address.front() != '[';
  std::string address =
      bare_ipv6 ? "[" + document_.gateway_address + "]" : document_.gateway_address;
  options.connect_to = address + ":" + std::to_string(document_.gateway_port);
  options.tls.judge = [this](const std::vector<std::string>& chain_der) {
    return judge_gateway(chain_der);
  };
  if (!identity_.chain_pem.empty()) {
    options.tls.certificate_chain_pem = joined(identity_.chain_pem);
    options.tls.private_key_pem = identity_.private_key_pem;
    // From its join on, this boot has one certificate and one judge. What it sends then, the agent
    // answers alike when it comes twice.
    options.tls.connection_key = "gateway-" + document_.boot;
    options.fresh_connection = false;
    options.repeatable = true;
  }
  return options;
}

Result<Json> GatewayClient::call(const std::string& method, const std::string& path,
                                 const std::string& body, int64_t timeout_ms) {
  HttpRequest request;
  request.method = method;
  request.url =
      "https://" + document_.gateway_host + ":" + std::to_string(document_.gateway_port) + path;
  request.body = body;
  if (!body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  HttpResponse response = TRY(http_.send(request, options(timeout_ms)));
  if (response.status < 200 || response.status > 299) {
    return status_error(response.status, response.body);
  }
  return parse_json(response.body, limits::kRamdiskAnswerBytes);
}

Status GatewayClient::hello() {
  std::string nonce = base64_encode(random_.bytes(kNonceBytes));
  Json answer =
      TRY(call("POST", "/v1/hello", dump_json({{"nonce", nonce}}), limits::kRamdiskRequestMs));
  return check_hello(answer, nonce);
}

Status GatewayClient::check_hello(const Json& answer, const std::string& nonce) {
  SignedEnvelope signed_hello;
  signed_hello.envelope = TRY(DsseEnvelope::from_json(TRY(json_object(answer, "envelope"))));
  signed_hello.chain_pem = TRY(certificates(answer));
  if (signed_hello.envelope.payload_type != kHelloPayloadType) {
    return Error(Code::kEvidenceRefused, "the hello is of another type");
  }
  Json payload = TRY(parse_json(signed_hello.envelope.payload, limits::kConfigBytes));
  int64_t time_ms = TRY(parse_time(TRY(json_string(payload, "time"))));
  Checked<Judgement> signer = check_signer(signed_hello, Verb::kSignRun, facts_.anchors, time_ms);
  if (!signer.ok()) return signer.error().to_error();
  if (json_text(payload, "nonce") != nonce) {
    return Error(Code::kEvidenceRefused, "the hello is the answer to somebody else");
  }
  bool ours = json_text(payload, "site") == document_.site &&
              signer.value().identity.site == document_.site;
  if (!ours) return Error(Code::kEvidenceRefused, "the hello is another site's");
  clock_.start(time_ms);
  clock_started_ = true;
  return {};
}

Status GatewayClient::join() {
  if (csr_pem_.empty()) {
    identity_.private_key_pem = generate_key().private_key_pem;
    csr_pem_ = TRY(make_csr(identity_.private_key_pem));
  }
  std::string mac = hex_encode(hmac_sha256(document_.token, TRY(csr_der(csr_pem_))));
  Json body = {{"run", document_.run}, {"boot", document_.boot}, {"csr", csr_pem_}, {"mac", mac}};
  Json answer = TRY(call("POST", "/v1/join", dump_json(body), limits::kRamdiskRequestMs));
  std::vector<std::string> chain = TRY(certificates(answer));
  std::string boot_nonce = TRY(json_string(answer, "boot_nonce"));
  if (TRY(base64_decode(boot_nonce)).empty()) return Error(Code::kMalformed, "no boot nonce");
  identity_.chain_pem = std::move(chain);
  identity_.boot_nonce = std::move(boot_nonce);
  wipe_secret(document_.token);
  return {};
}

Result<Command> GatewayClient::parse_command(const Json& json) const {
  Command command;
  command.n = TRY(json_int(json, "n"));
  command.id = TRY(json_string(json, "command"));
  command.verb = TRY(json_string(json, "verb"));
  command.nonce = TRY(json_string(json, "nonce"));
  command.context = TRY(ResultContext::from_json(TRY(json_object(json, "context"))));
  command.args = TRY(json_object(json, "args"));
  if (command.id.empty() || TRY(base64_decode(command.nonce)).empty()) {
    return Error(Code::kInvalidInput, "a command needs an id and a nonce");
  }
  bool ours = TRY(json_string(json, "run")) == document_.run &&
              command.context.run == document_.run && command.context.node == document_.node &&
              command.context.site == document_.site &&
              command.context.boot_nonce == identity_.boot_nonce;
  if (!ours) return Error(Code::kForbidden, "the command is for another machine, run or boot");
  return command;
}

Result<std::vector<Command>> GatewayClient::commands(int64_t& newest) {
  Json answer = TRY(call("GET", "/v1/commands?after=" + std::to_string(newest), "",
                         limits::kLongPollMs + limits::kRamdiskConnectMs));
  std::vector<Command> commands;
  for (const Json& item : TRY(json_array(answer, "commands"))) {
    newest = std::max(newest, json_int(item, "n").value_or(newest));
    Result<Command> command = parse_command(item);
    if (command.ok()) {
      commands.push_back(std::move(command).value());
    } else {
      log_line(LogEvent::kRequestRefused, {{"command", printable(json_text(item, "command"), 64)},
                                           {"message", command.error().text()}});
    }
  }
  return commands;
}

Status GatewayClient::telemetry(const std::string& command, const std::string& problem) {
  Json body = {{"command", command}};
  if (!problem.empty()) body["error"] = problem;
  TRY(call("POST", "/v1/telemetry", dump_json(body), limits::kRamdiskRequestMs));
  return {};
}

Status GatewayClient::post_result(const std::string& body) {
  TRY(call("POST", "/v1/results", body, limits::kRamdiskRequestMs));
  return {};
}

}  // namespace leasehold
