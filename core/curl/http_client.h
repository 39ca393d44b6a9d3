// The two HttpClients over libcurl. CurlEasyClient: one easy handle per call, for programs without
// a loop (ramdisk, commands, simulated firmware). CurlMulti: one multi handle on a Loop, shared by
// all steps; send() blocks the calling thread (never the loop's) until the loop delivers the
// answer.
#pragma once

#include <functional>
#include <memory>

#include "core/http/message.h"
#include "core/loop/loop.h"

namespace leasehold {

class CurlEasyClient : public HttpClient {
 public:
  CurlEasyClient();
  ~CurlEasyClient() override;
  CurlEasyClient(const CurlEasyClient&) = delete;
  CurlEasyClient& operator=(const CurlEasyClient&) = delete;
  // Several threads may be in it; one of them at a time has the kept connection.
  Result<HttpResponse> send(const HttpRequest& request, const HttpOptions& options) override;

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

class CurlMulti : public HttpClient {
 public:
  explicit CurlMulti(Loop& loop);
  ~CurlMulti() override;  // as shut_down()
  CurlMulti(const CurlMulti&) = delete;
  CurlMulti& operator=(const CurlMulti&) = delete;

  using Callback = std::function<void(Result<HttpResponse>)>;
  // On the loop's thread; the callback comes later, on the loop's thread, and may start() again.
  void start(HttpRequest request, HttpOptions options, Callback callback);
  // On the loop's thread or after it ended. Open calls answer at once, and every later one:
  // UNAVAILABLE, or TIMEOUT if their request may have had its effect. Whoever joins threads that
  // may be in send() while the loop stands still calls this first.
  void shut_down();
  Result<HttpResponse> send(const HttpRequest& request, const HttpOptions& options) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leasehold
