// Requests out of bytes (llhttp, strict mode): one at a time, everything bounded, whatever is not
// plainly one well-formed request refused with a status. Owned by one HttpConnection; loop's
// thread only. It does no input or output.
#pragma once

#include <llhttp.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/http/message.h"

namespace leasehold {

struct ParsedRequest {
  std::string method;
  std::string target;
  std::string path;   // percent-decoded
  std::string query;  // raw
  HttpHeaders headers;
  std::string body;
  bool keep_alive = false;
};

// Walks over the head of a request, up to its empty line, for what llhttp lets pass: heads of any
// size, folded lines (RFC 9112 section 5.2) and fields without a name.
class HeadScanner {
 public:
  // What to refuse the request with, or 0.
  int scan(std::string_view bytes);

 private:
  size_t bytes_ = 0;
  bool line_empty_ = true;
  bool in_head_ = false;  // empty lines before a request are allowed
  bool done_ = false;
};

enum class ParseOutcome { kNeedMore, kComplete, kRefused };

class HttpParser {
 public:
  // `host_optional`: firmware asks by HTTP/1.1 without a Host field (quirk X17).
  HttpParser(size_t max_body_bytes, bool host_optional);
  HttpParser(const HttpParser&) = delete;
  HttpParser& operator=(const HttpParser&) = delete;

  // Takes what belongs to the current request and says how much that was. After kComplete,
  // take() the request, then feed the rest. After kRefused nothing more may be fed.
  ParseOutcome feed(std::string_view bytes, size_t* consumed);
  ParsedRequest take();

  bool in_request() const { return in_request_; }
  // True once per request that waits for "100 Continue" before it sends its body.
  bool take_expects_continue();
  int refused_status() const { return refused_status_; }
  const std::string& refused_reason() const { return refused_reason_; }

 private:
  static const llhttp_settings_t& settings();
  template <auto Method>
  static int call(llhttp_t* parser);
  template <auto Method>
  static int data(llhttp_t* parser, const char* at, size_t length);

  int on_begin();
  int on_target(std::string_view part);
  int on_field(std::string_view part);
  int on_value(std::string_view part);
  int on_value_complete();
  int on_headers();
  int on_body(std::string_view part);
  int on_complete();

  int count_trailer(std::string_view part);
  bool check_transfer();
  bool check_head();
  int refuse(int status, const std::string& reason);

  llhttp_t parser_;
  const size_t max_body_bytes_;
  const bool host_optional_;
  ParsedRequest request_;
  std::string field_, value_;
  HeadScanner head_;
  size_t trailer_bytes_ = 0;
  bool in_request_ = false;
  bool headers_done_ = false;
  bool complete_ = false;
  bool expects_continue_ = false;
  int refused_status_ = 0;
  std::string refused_reason_;
};

// Splits an origin-form target into path and query. INVALID_INPUT for any other form, bad percent
// encoding, control bytes, an encoded slash, or "." and ".." as segments.
Status split_target(std::string_view target, std::string* path, std::string* query);

}  // namespace leasehold
