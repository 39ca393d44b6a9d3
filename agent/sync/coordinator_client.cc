#include "agent/sync/coordinator_client.h"

#include "agent/sync/answers.h"
#include "core/tls/crypto.h"

namespace leasehold {

CoordinatorClient::CoordinatorClient(HttpClient& http, CoordinatorPlace place,
                                     const CurrentIdentity& identity, Clock& clock,
                                     std::string instance,
                                     std::function<void(const std::string&)> on_superseded)
    : http_(http),
      place_(std::move(place)),
      identity_(identity),
      clock_(clock),
      instance_(std::move(instance)),
      on_superseded_(std::move(on_superseded)) {}

HttpOptions CoordinatorClient::options(int64_t timeout_ms) const {
  const SiteIdentity& site = *identity_;
  HttpOptions http;
  http.connect_timeout_ms = limits::kSyncConnectMs;
  http.timeout_ms = timeout_ms;
  http.max_body_bytes = limits::kSyncAnswerBytes;
  http.connect_to = place_.address;
  http.fresh_connection = false;
  http.repeatable = true;
  http.tls.certificate_chain_pem = site.agent_chain_pem;
  http.tls.private_key_pem = site.agent_key_pem;
  // A renewed certificate takes a connection of its own.
  http.tls.connection_key = "coordinator-" + sha256_hex(site.agent_chain_pem);
  http.tls.judge = [this, &site](const std::vector<std::string>& chain) {
    return judge_coordinator(chain, place_, site.anchors, clock_.now_ms());
  };
  return http;
}

Result<std::string> CoordinatorClient::post_text(const std::string& path, std::string body,
                                                 int64_t timeout_ms) {
  HttpRequest request;
  request.method = "POST";
  request.url = place_.url + path;
  request.headers = {{"Content-Type", "application/json"}, {"X-Leasehold-Instance", instance_}};
  request.body = std::move(body);
  HttpResponse response = TRY(http_.send(request, options(timeout_ms)));
  if (response.status / 100 == 2) return std::move(response.body);
  Error error = answer_of(response).error();
  if (error.code == Code::kSuperseded) on_superseded_(error.message);
  return error;
}

Result<Json> CoordinatorClient::post(const std::string& path, const Json& body,
                                     int64_t timeout_ms) {
  std::string text = TRY(post_text(path, dump_json(body), timeout_ms));
  return parse_json(text, limits::kSyncAnswerBytes);
}

bool is_away(const Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kTimeout;
}

}  // namespace leasehold
