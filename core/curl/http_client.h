// The two HttpClients over libcurl. CurlEasyClient: one easy handle per call, for programs without
// a loop (ramdisk, commands, simulated firmware). CurlMulti: one multi handle on a Loop, shared by
// all steps; send() blocks the calling thread (never the loop's) until the loop delivers the answer.
#pragma once

#include <functional>
#include <memory>

#include "core/http/message.h"
#include "core/loop/loop.h"

namespace leasehold {

class CurlEasyClient : public HttpClient {
 public:
  Result<HttpResponse> send(const HttpRequest& request, const HttpOptions& options) override;
};

class CurlMulti : public HttpClient {
 public:
  explicit CurlMulti(Loop& loop);
  ~CurlMulti() override;  // on the loop's thread or after it ended; open calls answer UNAVAILABLE
  CurlMulti(const CurlMulti&) = delete;
  CurlMulti& operator=(const CurlMulti&) = delete;

  using Callback = std::function<void(Result<HttpResponse>)>;
  // On the loop's thread; the callback comes later, on the loop's thread.
  void start(HttpRequest request, HttpOptions options, Callback callback);
  Result<HttpResponse> send(const HttpRequest& request, const HttpOptions& options) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leasehold
