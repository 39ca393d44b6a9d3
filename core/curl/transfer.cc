#include "core/curl/transfer.h"

#include <strings.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "core/base/check.h"
#include "core/tls/tls.h"

namespace leasehold {

namespace {

// A kept connection that has been idle for longer is not used again.
constexpr long kKeptConnectionS = 5;

bool has_line_break(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

long milliseconds(int64_t duration_ms) {  // libcurl takes 0 for "for ever"
  return static_cast<long>(std::max<int64_t>(duration_ms, 1));
}

}  // namespace

void start_libcurl() {
  static const bool kStarted = [] {
    // CURLOPT_NOSIGNAL leaves SIGPIPE to us: a peer that goes away must not end the program.
    std::signal(SIGPIPE, SIG_IGN);
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  }();
  LEASEHOLD_CHECK(kStarted, "libcurl does not start");
}

Transfer::Transfer(HttpRequest request, HttpOptions options, Easy easy)
    : request_(std::move(request)), options_(std::move(options)), easy_(std::move(easy)) {
  start_libcurl();
  if (easy_ == nullptr) easy_.reset(curl_easy_init());
  LEASEHOLD_CHECK(easy_ != nullptr, "out of memory");
}

Status Transfer::prepare() {
  TRY(check_request());
  set_target();
  set_bounds();
  set_method();
  set_headers();
  set_tls();
  return {};
}

Status Transfer::check_request() const {
  bool broken = request_.method.empty() || has_line_break(request_.method) ||
                request_.method.find(' ') != std::string::npos || has_line_break(request_.url);
  for (const auto& [name, value] : request_.headers) {
    broken = broken || name.empty() || has_line_break(name) || has_line_break(value) ||
             name.find_first_of(":; ") != std::string::npos;
  }
  if (broken) {
    return Error(Code::kInvalidInput, "a line break or an empty name in a request's head");
  }
  return {};
}

void Transfer::set_target() {
  CURL* easy = easy_.get();
  curl_easy_setopt(easy, CURLOPT_URL, request_.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  if (!options_.connect_to.empty()) {
    connect_to_.reset(curl_slist_append(nullptr, ("::" + options_.connect_to).c_str()));
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to_.get());
  }
  if (!options_.unix_socket_path.empty()) {
    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, options_.unix_socket_path.c_str());
  }
  const bool reuse = may_reuse_connection();
  curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, reuse ? 0L : 1L);
  curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, reuse ? 0L : 1L);
  if (!reuse) return;
  curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, kKeptConnectionS);
}

// libcurl sends a request again when a kept connection turns out dead, whatever the method: so only
// what may be repeated goes over a kept connection.
bool Transfer::may_reuse_connection() const {
  const bool repeatable =
      request_.method == "GET" || request_.method == "HEAD" || options_.repeatable;
  const bool plain = ::strncasecmp(request_.url.c_str(), "http://", 7) == 0;
  return !options_.fresh_connection && repeatable &&
         (plain || !options_.tls.connection_key.empty());
}

void Transfer::set_bounds() {
  CURL* easy = easy_.get();
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_text_);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(options_.connect_timeout_ms));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, milliseconds(options_.timeout_ms));
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
}

void Transfer::set_method() {
  CURL* easy = easy_.get();
  const std::string& method = request_.method;
  const bool has_body =
      !request_.body.empty() || method == "POST" || method == "PUT" || method == "PATCH";
  if (method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  } else if (has_body) {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request_.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request_.body.data());
  }
  if (method != "HEAD") curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method.c_str());
}

void Transfer::set_headers() {
  const auto add = [this](const std::string& line) {
    headers_.reset(curl_slist_append(headers_.release(), line.c_str()));
  };
  for (const auto& [name, value] : request_.headers) {
    if (::strcasecmp(name.c_str(), "Accept-Encoding") == 0) continue;
    add(value.empty() ? name + ";" : name + ": " + value);  // "name:" would leave it out
  }
  add("Expect:");
  if (header_value(request_.headers, "Content-Type").empty()) add("Content-Type:");
  // Compressed answers change entity tags (BMC quirk E1); who asks for them gets them unpacked.
  const std::string encoding = header_value(request_.headers, "Accept-Encoding");
  if (encoding.empty() || encoding == "identity") {
    add("Accept-Encoding: identity");
  } else {
    curl_easy_setopt(easy_.get(), CURLOPT_ACCEPT_ENCODING, encoding.c_str());
  }
  curl_easy_setopt(easy_.get(), CURLOPT_HTTPHEADER, headers_.get());
}

void Transfer::set_tls() {
  CURL* easy = easy_.get();
  auto judge = options_.tls.judge;
  options_.tls.judge = [this, judge](const std::vector<std::string>& chain_der) -> Status {
    Status verdict =
        judge ? judge(chain_der) : Status(Error(Code::kForbidden, "nobody was told to trust it"));
    if (!verdict.ok()) {
      tls_refused_ = true;
      tls_refusal_ = verdict.error();
    }
    return verdict;
  };
  // The judge replaces OpenSSL's verification, so no list of roots is read. The host's name is
  // compared by libcurl whatever the judge says, but towards BMCs. A resumed session would pass by
  // both.
  const bool by_pin = options_.tls.host_check == HostCheck::kByPin;
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, by_pin ? 0L : 2L);
  curl_easy_setopt(easy, CURLOPT_CAINFO, static_cast<char*>(nullptr));
  // libcurl does not compare judges when it picks a kept connection; it does compare the names of
  // the trust stores, which nobody reads here, since the judge replaces the verification.
  const std::string store = "/nonexistent/" + options_.tls.connection_key;
  const bool kept = !options_.tls.connection_key.empty();
  curl_easy_setopt(easy, CURLOPT_CAPATH, kept ? store.c_str() : nullptr);
  curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
  curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 0L);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_ssl_context);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, this);
}

CURLcode Transfer::on_ssl_context(CURL*, void* ssl_ctx, void* self) {
  auto* transfer = static_cast<Transfer*>(self);
  const Status installed =
      install_client_policy(static_cast<SSL_CTX*>(ssl_ctx), transfer->options_.tls);
  if (installed.ok()) return CURLE_OK;
  transfer->tls_refused_ = true;
  transfer->tls_refusal_ =
      Error(Code::kConfig, "our own certificate cannot be used: " + installed.error().message);
  return CURLE_SSL_CERTPROBLEM;
}

size_t Transfer::on_header(char* bytes, size_t size, size_t count, void* self) {
  auto* transfer = static_cast<Transfer*>(self);
  const bool taken = transfer->take_header_line(std::string_view(bytes, size * count));
  return taken ? size * count : 0;
}

bool Transfer::take_header_line(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > limits::kHttpAnswerHeaderBytes) {
    too_large_ = "the answer's head is over " + std::to_string(limits::kHttpAnswerHeaderBytes);
    return false;
  }
  if (head_complete_) return true;  // trailers mean nothing here
  if (line.substr(0, 5) == "HTTP/") {
    response_.headers.clear();  // what came before was an interim answer
    return true;
  }
  const std::string_view text = trimmed(line);
  if (text.empty()) {
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    head_complete_ = status >= 200;
    return true;
  }
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return true;
  response_.headers.emplace_back(trimmed(text.substr(0, colon)), trimmed(text.substr(colon + 1)));
  return true;
}

size_t Transfer::on_body(char* bytes, size_t size, size_t count, void* self) {
  auto* transfer = static_cast<Transfer*>(self);
  std::string& body = transfer->response_.body;
  if (body.size() + size * count > transfer->options_.max_body_bytes) {
    transfer->too_large_ =
        "the answer's body is over " + std::to_string(transfer->options_.max_body_bytes);
    return 0;
  }
  body.append(bytes, size * count);
  return size * count;
}

Result<HttpResponse> Transfer::finish(CURLcode result) {
  if (result != CURLE_OK) return failed(result);
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  response_.status = static_cast<int>(status);
  return std::move(response_);
}

Transfer::Easy Transfer::release() {
  curl_easy_reset(easy_.get());
  return std::move(easy_);
}

bool Transfer::anything_sent() const {
  long bytes = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_REQUEST_SIZE, &bytes);
  return bytes > 0;
}

Error Transfer::failed(CURLcode result) const {
  const std::string why = error_text_[0] != '\0' ? error_text_ : curl_easy_strerror(result);
  if (!too_large_.empty()) return Error(Code::kTooLarge, too_large_ + " bytes");
  if (!anything_sent()) {
    if (tls_refused_) {
      return Error(Code::kUnavailable, "TLS was refused: " + tls_refusal_.message);
    }
    const bool bad_url = result == CURLE_URL_MALFORMAT || result == CURLE_UNSUPPORTED_PROTOCOL ||
                         result == CURLE_LOGIN_DENIED;
    return Error(bad_url ? Code::kInvalidInput : Code::kUnavailable, why);
  }
  if (result == CURLE_OPERATION_TIMEDOUT) return Error(Code::kTimeout, why);
  return Error(Code::kMalformed, "no whole answer came: " + why);
}

Error Transfer::broken_off(const std::string& why) const {
  if (!anything_sent()) return Error(Code::kUnavailable, why);
  return Error(Code::kTimeout, why + "; the request may have had its effect");
}

}  // namespace leasehold
