#include "core/loop/http_parser.h"

#include <strings.h>

#include <utility>

#include "core/base/limits.h"
#include "core/loop/percent.h"

namespace leasehold {

template <auto Method>
int HttpParser::call(llhttp_t* parser) {
  return (static_cast<HttpParser*>(parser->data)->*Method)();
}
template <auto Method>
int HttpParser::data(llhttp_t* parser, const char* at, size_t length) {
  return (static_cast<HttpParser*>(parser->data)->*Method)(std::string_view(at, length));
}

const llhttp_settings_t& HttpParser::settings() {
  static const llhttp_settings_t kSettings = [] {
    llhttp_settings_t made;
    llhttp_settings_init(&made);
    made.on_message_begin = call<&HttpParser::on_begin>;
    made.on_url = data<&HttpParser::on_target>;
    made.on_header_field = data<&HttpParser::on_field>;
    made.on_header_value = data<&HttpParser::on_value>;
    made.on_header_value_complete = call<&HttpParser::on_value_complete>;
    made.on_headers_complete = call<&HttpParser::on_headers>;
    made.on_body = data<&HttpParser::on_body>;
    made.on_message_complete = call<&HttpParser::on_complete>;
    return made;
  }();
  return kSettings;
}

HttpParser::HttpParser(size_t max_body_bytes, bool host_optional)
    : max_body_bytes_(max_body_bytes), host_optional_(host_optional) {
  llhttp_init(&parser_, HTTP_REQUEST, &settings());
  parser_.data = this;
}

ParseOutcome HttpParser::feed(std::string_view bytes, size_t* consumed) {
  *consumed = 0;
  if (refused_status_ != 0) return ParseOutcome::kRefused;
  if (bytes.empty()) return ParseOutcome::kNeedMore;
  const int bad_head = head_.scan(bytes);
  if (bad_head != 0) {
    refuse(bad_head, bad_head == 431 ? "the head of the request is too large"
                                     : "a header line without a name");
    return ParseOutcome::kRefused;
  }
  if (llhttp_get_errno(&parser_) == HPE_PAUSED) llhttp_resume(&parser_);
  const llhttp_errno_t result = llhttp_execute(&parser_, bytes.data(), bytes.size());
  *consumed = bytes.size();
  if (complete_ && result == HPE_PAUSED) {
    *consumed = static_cast<size_t>(llhttp_get_error_pos(&parser_) - bytes.data());
    return ParseOutcome::kComplete;
  }
  if (refused_status_ != 0) return ParseOutcome::kRefused;
  if (result == HPE_PAUSED_H2_UPGRADE || result == HPE_INVALID_VERSION) {
    refuse(505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
  } else if (result != HPE_OK) {
    refuse(400, std::string("not a well-formed request: ") + llhttp_get_error_reason(&parser_));
  }
  return refused_status_ != 0 ? ParseOutcome::kRefused : ParseOutcome::kNeedMore;
}

ParsedRequest HttpParser::take() {
  in_request_ = false;
  complete_ = false;
  head_ = {};
  return std::exchange(request_, {});
}

bool HttpParser::take_expects_continue() { return std::exchange(expects_continue_, false); }

int HttpParser::refuse(int status, const std::string& reason) {
  if (refused_status_ == 0) {
    refused_status_ = status;
    refused_reason_ = reason;
  }
  llhttp_set_error_reason(&parser_, "refused");
  return HPE_USER;
}

int HttpParser::count_trailer(std::string_view part) {
  trailer_bytes_ += part.size();
  if (trailer_bytes_ > limits::kHttpHeaderBytes) return refuse(431, "the trailer is too large");
  return HPE_OK;
}

int HttpParser::on_begin() {
  request_ = {};
  field_.clear();
  value_.clear();
  trailer_bytes_ = 0;
  in_request_ = true;
  headers_done_ = false;
  return HPE_OK;
}

int HttpParser::on_target(std::string_view part) {
  request_.target.append(part);
  return HPE_OK;
}

int HttpParser::on_field(std::string_view part) {
  if (headers_done_) return count_trailer(part);
  field_.append(part);
  return HPE_OK;
}

int HttpParser::on_value(std::string_view part) {
  if (headers_done_) return count_trailer(part);
  value_.append(part);
  return HPE_OK;
}

int HttpParser::on_value_complete() {
  if (headers_done_) return HPE_OK;  // trailers mean nothing here
  auto field = std::exchange(field_, {});
  auto value = std::exchange(value_, {});
  if (request_.headers.size() >= limits::kHttpHeaders) return refuse(431, "too many header fields");
  for (unsigned char c : value) {
    if (c < 0x20 && c != '\t') return refuse(400, "a control byte in the header");
  }
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.pop_back();
  request_.headers.emplace_back(std::move(field), std::move(value));
  return HPE_OK;
}

// What llhttp lets pass and two readers could understand in two ways.
bool HttpParser::check_transfer() {
  size_t hosts = 0, codings = 0;
  for (const auto& [name, value] : request_.headers) {
    if (::strcasecmp(name.c_str(), "host") == 0) hosts++;
    if (::strcasecmp(name.c_str(), "transfer-encoding") != 0) continue;
    if (++codings > 1 || ::strcasecmp(value.c_str(), "chunked") != 0) {
      refuse(501, "no transfer coding but chunked is understood");
      return false;
    }
  }
  if (codings != 0 && parser_.http_minor == 0) {
    refuse(400, "HTTP/1.0 has no transfer coding");
  } else if (hosts > 1 || (hosts == 0 && parser_.http_minor != 0 && !host_optional_)) {
    refuse(400, "exactly one Host is needed");
  }
  return refused_status_ == 0;
}

bool HttpParser::check_head() {
  if (parser_.http_major != 1 || parser_.http_minor > 1) {
    refuse(505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
    return false;
  }
  const auto method = static_cast<llhttp_method_t>(parser_.method);
  request_.method = llhttp_method_name(method);
  if (method == HTTP_CONNECT) {
    refuse(405, "this is no proxy");
    return false;
  }
  const Status split = split_target(request_.target, &request_.path, &request_.query);
  if (!split.ok()) {
    refuse(400, split.error().message);
    return false;
  }
  return check_transfer();
}

int HttpParser::on_headers() {
  headers_done_ = true;
  if (!check_head()) return HPE_USER;
  parser_.upgrade = 0;  // no other protocol is offered: the request is answered as it stands
  const bool chunked = (parser_.flags & F_CHUNKED) != 0;
  if (!chunked && parser_.content_length > max_body_bytes_) {
    return refuse(413, "the body is over " + std::to_string(max_body_bytes_) + " bytes");
  }
  const std::string expects = header_value(request_.headers, "Expect");
  if (!expects.empty() && ::strcasecmp(expects.c_str(), "100-continue") != 0) {
    return refuse(417, "only 100-continue may be expected");
  }
  const bool body_follows = chunked || parser_.content_length > 0;
  expects_continue_ = !expects.empty() && body_follows && parser_.http_minor != 0;
  // An HTTP/1.0 client's idea of keep-alive is not worth guessing at.
  request_.keep_alive = parser_.http_minor != 0 && llhttp_should_keep_alive(&parser_) != 0;
  return HPE_OK;
}

int HttpParser::on_body(std::string_view part) {
  if (request_.body.size() + part.size() > max_body_bytes_) {
    return refuse(413, "the body is over " + std::to_string(max_body_bytes_) + " bytes");
  }
  request_.body.append(part);
  return HPE_OK;
}

int HttpParser::on_complete() {
  complete_ = true;
  expects_continue_ = false;
  return HPE_PAUSED;
}

int HeadScanner::scan(std::string_view bytes) {
  for (const char c : bytes) {
    if (done_) return 0;
    if (++bytes_ > limits::kHttpHeaderBytes) return 431;
    if (c == '\n') {
      done_ = in_head_ && line_empty_;
      line_empty_ = true;
    } else if (c != '\r') {
      if (line_empty_ && (c == ' ' || c == '\t' || c == ':')) return 400;
      line_empty_ = false;
      in_head_ = true;
    }
  }
  return 0;
}

Status split_target(std::string_view target, std::string* path, std::string* query) {
  const auto refused = [](const char* why) { return Error(Code::kInvalidInput, why, "target"); };
  if (target.empty() || target[0] != '/') return refused("the target must be a path");
  const size_t mark = target.find('?');
  *query = mark == std::string_view::npos ? "" : std::string(target.substr(mark + 1));
  std::string_view rest = target.substr(0, mark);
  if (target.find('#') != std::string_view::npos) return refused("a fragment in the target");
  path->clear();
  while (!rest.empty()) {
    const std::string_view segment = rest.substr(1, rest.find('/', 1) - 1);
    rest.remove_prefix(1 + segment.size());
    const std::string text = TRY(percent_decode(segment));
    for (unsigned char c : text) {
      if (c < 0x20 || c == 0x7f) return refused("a control byte in the target");
      if (c == '/') return refused("an encoded slash in the target");
    }
    if (text == "." || text == "..") return refused("a dot segment in the target");
    path->append("/").append(text);
  }
  return {};
}

}  // namespace leasehold
