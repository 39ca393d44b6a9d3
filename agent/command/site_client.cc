#include "agent/command/site_client.h"

namespace leasehold {
namespace {

constexpr int64_t kCallMs = 60'000;

Error answered_error(const HttpResponse& response) {
  Result<Json> body = parse_json(response.body);
  if (body.ok()) {
    std::optional<Code> code = code_from_name(json_text(body.value(), "code"));
    if (code.has_value()) {
      return Error(*code, json_text(body.value(), "message"), json_text(body.value(), "field"));
    }
  }
  return Error(Code::kUnavailable,
               "the agent answered with status " + std::to_string(response.status));
}

}  // namespace

bool flag_of(const Json& object, const std::string& key) {
  return json_bool_or(object, key, false).value_or(false);
}

int64_t number_of(const Json& object, const std::string& key) {
  return json_int_or(object, key, 0).value_or(0);
}

Result<std::string> SiteClient::call(const std::string& method, const std::string& path,
                                     const std::string& body) {
  HttpRequest request;
  request.method = method;
  request.url = "http://agent" + path;
  if (!body.empty()) request.headers = {{"Content-Type", "application/json"}};
  request.body = body;
  HttpOptions options;
  options.unix_socket_path = socket_path_;
  options.timeout_ms = kCallMs;
  options.max_body_bytes = 64 << 20;
  Result<HttpResponse> response = http_.send(request, options);
  if (!response.ok()) {
    return Error(Code::kUnavailable, "no agent answers at " + socket_path_ + " (" +
                                         response.error().message +
                                         "); is it running, and may you use its socket?");
  }
  if (response.value().status / 100 != 2) return answered_error(response.value());
  return std::move(response.value().body);
}

Result<std::string> SiteClient::get_text(const std::string& path) { return call("GET", path, ""); }

Result<Json> SiteClient::get(const std::string& path) {
  return parse_json(TRY(call("GET", path, "")), 64 << 20);
}

Result<Json> SiteClient::post(const std::string& path, const Json& body) {
  return parse_json(TRY(call("POST", path, dump_json(body))));
}

}  // namespace leasehold
