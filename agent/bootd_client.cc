#include "agent/bootd_client.h"

namespace leasehold {
namespace {

constexpr int64_t kCallMs = 10'000;
constexpr int64_t kPollMs = 40'000;
constexpr int64_t kPollAgainMs = 500;

}  // namespace

BootdClient::BootdClient(Loop& loop, CurlMulti& http, std::string socket_path)
    : loop_(loop), http_(http), socket_path_(std::move(socket_path)) {}

HttpOptions BootdClient::options(int64_t timeout_ms) const {
  HttpOptions options;
  options.unix_socket_path = socket_path_;
  options.timeout_ms = timeout_ms;
  return options;
}

Status BootdClient::call(const std::string& method, const std::string& mac,
                         const std::string& body) {
  HttpRequest request;
  request.method = method;
  request.url = "http://bootd/v1/armed/" + mac;
  request.headers = {{"Content-Type", "application/json"}};
  request.body = body;
  HttpResponse response = TRY_WITH(http_.send(request, options(kCallMs)), "bootd");
  if (response.status == 409) return Error(Code::kConflict, "this boot was armed before");
  if (response.status / 100 == 2) return {};
  return Error(Code::kUnavailable,
               "bootd answered " + std::to_string(response.status) + " to " + method);
}

Status BootdClient::arm(const std::string& mac, const Json& arming) {
  return call("PUT", mac, dump_json(arming));
}

Status BootdClient::disarm(const std::string& mac) { return call("DELETE", mac, ""); }

void BootdClient::watch_claims(std::function<void(const std::string& boot)> on_second_claim) {
  on_second_claim_ = std::move(on_second_claim);
  poll();
}

void BootdClient::poll() {
  HttpRequest request;
  request.url = "http://bootd/v1/claims?after=" + std::to_string(after_);
  // The first look answers at once: is bootd there?
  if (!reachable_) request.url += "&wait=0";
  http_.start(request, options(kPollMs),
              [this](Result<HttpResponse> response) { polled(std::move(response)); });
}

void BootdClient::polled(Result<HttpResponse> response) {
  Result<Json> body = response.ok() && response.value().status == 200
                          ? parse_json(response.value().body)
                          : Result<Json>(Error(Code::kUnavailable, "no claims"));
  reachable_ = body.ok();
  if (!reachable_) {
    loop_.after(kPollAgainMs, [this] { poll(); });
    return;
  }
  std::string incarnation = json_text(body.value(), "incarnation");
  if (incarnation != incarnation_) {
    // A bootd that was started anew counts from the beginning.
    incarnation_ = incarnation;
    after_ = 0;
    return poll();
  }
  for (const Json& claim : json_member(body.value(), "claims")) {
    Result<int64_t> number = json_int(claim, "n");
    if (number.ok()) after_ = std::max(after_, number.value());
    if (json_int_or(claim, "count", 1).value_or(2) > 1) on_second_claim_(json_text(claim, "boot"));
  }
  poll();
}

}  // namespace leasehold
