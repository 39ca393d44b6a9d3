#include "coordinator/cli/api_client.h"

#include <algorithm>

#include "coordinator/cli/console.h"
#include "core/base/bytes.h"
#include "core/tls/identity.h"

namespace leasehold {
namespace {

constexpr int64_t kConnectMs = 10'000;
constexpr int64_t kAnswerMs = 60'000;
constexpr size_t kAnswerBytes = 64 << 20;
constexpr size_t kPageItems = 1000;

Error answered_error(const HttpResponse& response) {
  const Json body = parse_json(response.body).value_or(Json());
  const std::optional<Code> code = code_from_name(json_text(body, "code"));
  if (code.has_value()) {
    return advised(Error(*code, json_text(body, "message"), json_text(body, "field")));
  }
  return Error(Code::kMalformed, "what answers is no coordinator of this version: status " +
                                     std::to_string(response.status) + " without an error code");
}

std::string wrong_server(const ClientConfig& config, const Judgement& judgement) {
  switch (judgement.refusal) {
    case ChainRefusal::kExpired:
      return "its certificate has expired at " + format_time(judgement.not_after_ms) +
             ": the coordinator needs a new one (or this machine's clock is wrong)";
    case ChainRefusal::kNotYetValid:
      return "its certificate is not valid yet: compare this machine's clock with the "
             "coordinator's";
    case ChainRefusal::kUntrusted:
      return "its certificate does not come from the root in " + config.root_file +
             ": wrong coordinator, or a root.pem of another installation";
    case ChainRefusal::kWrongHost:
      return "its certificate is not for the host " + config.host + ": write the url in " +
             config.file +
             " with the name that it is for (and \"address\" "
             "for where to connect)";
    default:
      return "its certificate is not a coordinator's of " + config.domain + " (" +
             std::string(chain_refusal_name(judgement.refusal)) + ")";
  }
}

}  // namespace

std::string url_part(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string out;
  for (char c : text) {
    const bool plain = kPlain.find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : "%" + hex_encode(std::string_view(&c, 1));
  }
  return out;
}

std::string query_text(const Query& query) {
  std::string out;
  for (const auto& [name, value] : query) {
    if (value.empty()) continue;
    out += (out.empty() ? "?" : "&") + name + "=" + url_part(value);
  }
  return out;
}

ApiClient::ApiClient(ClientConfig config, HttpClient& http, Clock& clock)
    : config_(std::move(config)), http_(http), clock_(clock) {}

Status ApiClient::judge_server(const std::vector<std::string>& chain_der) {
  JudgeRequest request;
  request.chain_der = chain_der;
  request.instant_ms = clock_.now_ms();
  request.verb = Verb::kSyncRows;  // what the matrix gives a coordinator
  request.host = config_.host;
  Judgement judgement = judge(request, config_.anchors());
  if (judgement.allowed && judgement.identity.kind == IdentityKind::kCoordinator) return {};
  if (judgement.allowed) judgement.refusal = ChainRefusal::kKindMayNot;
  server_refused_ = wrong_server(config_, judgement);
  return Error(Code::kForbidden, server_refused_);
}

Error ApiClient::unreached(const Error& error) const {
  if (!server_refused_.empty()) {
    return Error(Code::kForbidden,
                 "the server at " + config_.url + " is not trusted: " + server_refused_);
  }
  const std::string at =
      config_.url + (config_.address.empty() ? "" : " (" + config_.address + ")");
  switch (error.code) {
    case Code::kUnavailable:
      return Error(Code::kUnavailable, "the coordinator at " + at + " is not reached: " +
                                           error.message + "; is it running, is the url in " +
                                           config_.file + " right, is the way open?");
    case Code::kTimeout:
      return Error(Code::kTimeout, "the coordinator at " + at + " did not answer in time (" +
                                       error.message +
                                       "); what was asked may have been done: look before you ask "
                                       "again");
    case Code::kMalformed:
      return Error(Code::kTimeout, "the coordinator at " + at + " broke off (" + error.message +
                                       "); what was asked may have been done: look before you ask "
                                       "again");
    default:
      return Error(error.code, "the coordinator at " + at + ": " + error.message);
  }
}

bool ApiClient::may_come_back(const Error& error) const {
  return server_refused_.empty() &&
         (error.code == Code::kUnavailable || error.code == Code::kTimeout);
}

Result<std::string> ApiClient::call(const HttpRequest& request, int64_t wait_s) {
  server_refused_.clear();
  HttpOptions options;
  options.connect_timeout_ms = kConnectMs;
  options.timeout_ms = kAnswerMs + wait_s * 1000;
  options.max_body_bytes = kAnswerBytes;
  options.connect_to = config_.address;
  options.fresh_connection = false;
  options.tls.judge = [this](const std::vector<std::string>& chain) { return judge_server(chain); };
  options.tls.certificate_chain_pem = config_.certificate_chain_pem;
  options.tls.private_key_pem = config_.private_key_pem;
  options.tls.connection_key = "coordinator";
  Result<HttpResponse> response = http_.send(request, options);
  if (!response.ok()) return unreached(response.error());
  if (response.value().status / 100 != 2) return answered_error(response.value());
  return std::move(response.value().body);
}

Result<std::string> ApiClient::get_bytes(const std::string& path) {
  return call({"GET", config_.url + path, {}, ""}, 0);
}

Result<Json> ApiClient::get(const std::string& path, int64_t wait_s) {
  const std::string body = TRY(call({"GET", config_.url + path, {}, ""}, wait_s));
  return parse_json(body, kAnswerBytes);
}

Result<Json> ApiClient::send(const std::string& method, const std::string& path,
                             const Json& content) {
  HttpRequest request{
      method, config_.url + path, {{"Content-Type", "application/json"}}, dump_json(content)};
  const std::string body = TRY(call(request, 0));
  if (body.empty()) return Json::object();
  return parse_json(body, kAnswerBytes);
}

Result<Json> ApiClient::list(const std::string& path, Query query, size_t most) {
  Json items = Json::array();
  std::string cursor;
  do {
    const size_t left = most == 0 ? kPageItems : std::min(most - items.size(), kPageItems);
    Query page = query;
    page.emplace_back("limit", std::to_string(left));
    page.emplace_back("after", cursor);
    const Json answer = TRY(get(path + query_text(page)));
    const Json found = TRY_WITH(json_array(answer, "items"), "the coordinator's list");
    for (const Json& each : found) items.push_back(each);
    const std::string next = cell_text(answer, "next");  // audit counts in numbers
    if (found.empty() || next == cursor) break;
    cursor = next;
  } while (!cursor.empty() && (most == 0 || items.size() < most));
  return items;
}

}  // namespace leasehold
