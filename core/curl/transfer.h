// One HTTP exchange as one libcurl easy handle: set up from our values, received into bounded
// buffers, ended as a Result. Owned by the client that runs it; used from one thread at a time. It
// runs nothing itself. It must stay where it is while the handle lives (libcurl holds its address).
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/http/message.h"

namespace leasehold {

// Once per program, whoever comes first; any thread.
void start_libcurl();

class Transfer {
 public:
  struct EasyFree {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  };
  using Easy = std::unique_ptr<CURL, EasyFree>;

  // `easy`: a released handle, with its connections; null makes a new one.
  Transfer(HttpRequest request, HttpOptions options, Easy easy = nullptr);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // INVALID_INPUT for a request that cannot be written safely (a line break in a header).
  Status prepare();
  CURL* easy() const { return easy_.get(); }
  // How it ended: the response, or an error whose code says whether anything was sent.
  Result<HttpResponse> finish(CURLcode result);
  // After finish(): the handle with its connections, and nothing of this transfer left in it.
  Easy release();
  // As finish(), for a transfer that is broken off by us.
  Error broken_off(const std::string& why) const;

 private:
  struct ListFree {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };
  using List = std::unique_ptr<curl_slist, ListFree>;

  static size_t on_header(char* bytes, size_t size, size_t count, void* self);
  static size_t on_body(char* bytes, size_t size, size_t count, void* self);
  static CURLcode on_ssl_context(CURL* easy, void* ssl_ctx, void* self);

  Status check_request() const;
  void set_target();
  void set_bounds();
  void set_method();
  void set_headers();
  void set_tls();
  bool take_header_line(std::string_view line);
  bool may_reuse_connection() const;
  bool anything_sent() const;
  Error failed(CURLcode result) const;

  HttpRequest request_;
  HttpOptions options_;
  HttpResponse response_;
  size_t header_bytes_ = 0;
  bool head_complete_ = false;
  std::string too_large_;  // what is, if anything
  Error tls_refusal_;      // of the judge, or of our own certificate
  bool tls_refused_ = false;
  char error_text_[CURL_ERROR_SIZE] = "";
  List headers_, connect_to_;
  Easy easy_;  // last: it goes first, while what it points to is there
};

}  // namespace leasehold
