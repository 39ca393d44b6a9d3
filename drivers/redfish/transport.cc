#include "drivers/redfish/transport.h"

#include <algorithm>

#include "core/base/limits.h"
#include "core/base/log.h"

namespace leasehold::redfish {
namespace {

bool worth_another_read(const Result<Reply>& result) {
  if (!result.ok()) return result.error().code == Code::kMalformed;
  int status = result.value().status;
  return status == 500 || status == 502 || status == 503 || status == 504;
}

Code code_for(int status, bool effect) {
  if (status == 401) return Code::kUnauthenticated;
  if (status == 404 || status == 410) return Code::kNotFound;
  if (status == 405 || status == 501) return Code::kUnsupported;
  if (status == 412 || status == 428) return Code::kConflict;
  if (status >= 500 || status == 429) return effect ? Code::kTimeout : Code::kUnavailable;
  return Code::kRefused;
}

std::string trimmed(const std::string& text) {
  size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

std::string path_of(const std::string& uri) {
  std::string path = uri;
  size_t scheme = uri.find("://");
  if (scheme != std::string::npos && scheme < uri.find('/')) {
    size_t slash = uri.find('/', scheme + 3);
    path = slash == std::string::npos ? "" : uri.substr(slash);
  }
  path = path.substr(0, path.find('#'));
  bool clean = std::all_of(path.begin(), path.end(), [](char c) { return c > ' ' && c < 0x7f; });
  return clean && path.starts_with('/') ? path : "";
}

std::string link_of(const Json& reference) { return path_of(json_text(reference, "@odata.id")); }

Transport::Transport(HttpClient& client, Clock& clock, std::string origin, TlsClientPolicy tls)
    : client_(client), clock_(clock), origin_(std::move(origin)), tls_(std::move(tls)) {
  while (origin_.ends_with('/')) origin_.pop_back();
}

Result<Reply> Transport::send_once(const Call& call) {
  HttpRequest request;
  request.method = call.method;
  request.url = origin_ + call.path;
  request.headers = call.headers;
  // A compressed answer gets a weak tag that no PATCH can use (E1).
  request.headers.emplace_back("Accept-Encoding", "identity");
  request.headers.emplace_back("Accept", "application/json");
  request.headers.emplace_back("OData-Version", "4.0");
  if (!call.body.is_null()) {
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = dump_json(call.body);
  }
  HttpOptions options;
  options.timeout_ms = call.timeout_ms;
  options.connect_timeout_ms = std::min(options.connect_timeout_ms, call.timeout_ms);
  options.tls = tls_;
  options.fresh_connection = false;  // for reads in a row; what has an effect gets one all the same
  auto answer = client_.send(request, options);
  if (call.method == "GET" && !answer.ok() && answer.error().code == Code::kMalformed) {
    options.fresh_connection = true;  // the BMC may have dropped the kept one without notice (T8)
    answer = client_.send(request, options);
  }
  if (!answer.ok()) return told(std::move(answer).error().with(call.method + " " + call.path));
  const HttpResponse& response = answer.value();
  Reply reply;
  reply.status = response.status;
  reply.etag = trimmed(header_value(response.headers, "ETag"));
  if (reply.etag == "\"\"" || reply.etag == "W/\"\"") reply.etag.clear();
  reply.location = path_of(header_value(response.headers, "Location"));
  reply.token = trimmed(header_value(response.headers, "X-Auth-Token"));
  auto body = parse_json(response.body, limits::kBmcBodyBytes);
  if (body.ok()) {
    reply.body = std::move(body).value();
    reply.messages = extended_messages(reply.body);
  } else if (call.method == "GET" && reply.good()) {
    return told(std::move(body).error().with("GET " + call.path));
  }
  if (call.method == "GET" && reply.good() && holds_secret(reply.body)) {
    return told(Error(Code::kMalformed,
                      "GET " + call.path + ": the answer holds a password or token of ours"));
  }
  return reply;
}

Result<Reply> Transport::get(const std::string& path, const HttpHeaders& headers) {
  Call call;
  call.path = path;
  call.headers = headers;
  for (int tries = 1;; ++tries) {
    auto result = send_once(call);
    if (!worth_another_read(result) || tries >= limits::kBmcGetTries) return result;
    clock_.sleep_ms(limits::kBmcGetRetryMs);
  }
}

Error Transport::error(const Call& call, const Reply& reply) const {
  bool effect = call.method != "GET";
  std::string text = call.method + " " + call.path + ": HTTP " + std::to_string(reply.status);
  const Message* message = first_failure(reply.messages);
  if (message == nullptr && !reply.messages.empty()) message = &reply.messages.front();
  if (message != nullptr) {
    std::string words = message->id;
    if (!message->text.empty()) words += (words.empty() ? "" : ": ") + message->text;
    words = without_secrets(std::move(words));  // before a cut could leave half of one
    if (words.size() > limits::kBmcMessageBytes) words.resize(limits::kBmcMessageBytes);
    text += ", " + words;
  }
  if (effect && reply.status >= 500) text += "; whether it took effect is unknown";
  return told(Error(code_for(reply.status, effect), text));
}

void Transport::keep_secret(const std::string& secret) {
  // A shorter one would tear holes into every text; no BMC's token or password is that short.
  if (secret.size() >= 4) secrets_.push_back(secret);
}

// Its path may be the BMC's words too: a link, a Location.
Error Transport::told(Error error) const {
  error.message = without_secrets(std::move(error.message));
  error.field = without_secrets(std::move(error.field));
  return error;
}

// As parsed, so that an escape in the text hides nothing.
bool Transport::holds_secret(const Json& value) const {
  auto found_in = [this](const std::string& text) {
    return std::any_of(secrets_.begin(), secrets_.end(), [&](const std::string& secret) {
      return secret.size() >= limits::kBmcEchoBytes && text.find(secret) != std::string::npos;
    });
  };
  if (value.is_string()) return found_in(value.get_ref<const std::string&>());
  if (value.is_array()) {
    return std::any_of(value.begin(), value.end(),
                       [this](const Json& entry) { return holds_secret(entry); });
  }
  if (!value.is_object()) return false;
  for (const auto& [key, member] : value.items()) {
    if (found_in(key) || holds_secret(member)) return true;
  }
  return false;
}

std::string Transport::without_secrets(std::string text) const {
  for (const std::string& secret : secrets_) {
    for (size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + 8)) {
      text.replace(at, secret.size(), "[secret]");
    }
  }
  return scrubbed(std::move(text));
}

}  // namespace leasehold::redfish
