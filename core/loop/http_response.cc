#include "core/loop/http_response.h"

#include <llhttp.h>
#include <strings.h>

#include <utility>

#include "core/base/json.h"
#include "core/loop/http_server.h"
#include "core/loop/percent.h"

namespace leasehold {

namespace {

bool is_named(const std::string& name, const char* other) {
  return ::strcasecmp(name.c_str(), other) == 0;
}

bool is_ours(const std::string& name) {
  return is_named(name, "Content-Length") || is_named(name, "Connection") ||
         is_named(name, "Transfer-Encoding") || is_named(name, "Keep-Alive");
}

bool is_token(const std::string& name) {
  if (name.empty()) return false;
  for (unsigned char c : name) {
    if (c <= 0x20 || c >= 0x7f ||
        std::string_view("()<>@,;:\\\"/[]?={}").find(c) != std::string::npos)
      return false;
  }
  return true;
}

bool is_safe(const HttpResponse& response) {
  if (response.status < 200 || response.status > 599) return false;
  for (const auto& [name, value] : response.headers) {
    if (!is_token(name)) return false;
    for (unsigned char c : value) {
      if ((c < 0x20 && c != '\t') || c == 0x7f) return false;
    }
  }
  return true;
}

std::string reason_phrase(int status) {
  std::string text = "Status";
  switch (status) {  // llhttp_status_name() aborts for a number that it does not know
#define LEASEHOLD_PHRASE(number, name, string) \
  case number:                                 \
    text = #name;                              \
    break;
    HTTP_STATUS_MAP(LEASEHOLD_PHRASE)
#undef LEASEHOLD_PHRASE
    default:
      break;
  }
  for (char& c : text) {
    if (c == '_') c = ' ';
  }
  return text;
}

bool has_no_content(int status) { return status == 204 || status == 304; }  // RFC 9110 section 8.6

int status_of(Code code) {
  switch (code) {
    case Code::kInvalidInput:
      return 400;
    case Code::kUnauthenticated:
      return 401;
    case Code::kForbidden:
    case Code::kTenantControlled:
      return 403;
    case Code::kNotFound:
      return 404;
    case Code::kConflict:
    case Code::kSuperseded:
      return 409;
    case Code::kTooLarge:
      return 413;
    case Code::kUnavailable:
      return 503;
    case Code::kTimeout:
      return 504;
    default:
      return 500;
  }
}

}  // namespace

bool asks_to_close(const HttpResponse& response) {
  return is_named(header_value(response.headers, "Connection"), "close");
}

HttpResponse safe_response(HttpResponse response) {
  if (!is_safe(response)) {
    return error_response(Error(Code::kInternal, "the answer could not be written"));
  }
  const bool empty = response.source && response.source->size() == 0;
  if (empty || has_no_content(response.status)) response.source = nullptr;
  return response;
}

std::string serialise_response(HttpResponse response, const ResponseForm& form) {
  response = safe_response(std::move(response));
  const bool no_content = has_no_content(response.status);
  const size_t length = response.source ? response.source->size() : response.body.size();
  std::string out =
      "HTTP/1.1 " + std::to_string(response.status) + " " + reason_phrase(response.status) + "\r\n";
  for (const auto& [name, value] : response.headers) {
    if (!is_ours(name)) out.append(name).append(": ").append(value).append("\r\n");
  }
  if (!no_content) out += "Content-Length: " + std::to_string(length) + "\r\n";
  if (!form.keep_alive) out += "Connection: close\r\n";
  out += "\r\n";
  if (!no_content && !form.head_only && !response.source) out += response.body;
  return out;
}

HttpResponse json_response(int status, const std::string& json) {
  return HttpResponse{status, {{"Content-Type", "application/json"}}, json};
}

HttpResponse error_response(const Error& error) {
  const Json body = {{"code", std::string(code_name(error.code))},
                     {"message", error.message},
                     {"field", error.field}};
  return json_response(status_of(error.code), dump_json(body));
}

std::string query_value(const std::string& query, const std::string& name) {
  size_t begin = 0;
  while (begin <= query.size()) {
    const size_t end = std::min(query.find('&', begin), query.size());
    const std::string_view pair = std::string_view(query).substr(begin, end - begin);
    const size_t equals = std::min(pair.find('='), pair.size());
    if (percent_decode(pair.substr(0, equals)).value_or("") == name && equals < pair.size()) {
      return percent_decode(pair.substr(equals + 1)).value_or("");
    }
    begin = end + 1;
  }
  return "";
}

}  // namespace leasehold
