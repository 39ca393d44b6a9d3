// The agent's side of leasehold-bootd's control socket (docs/protocols.md section 1): arming and
// disarming from steps' threads, and the long poll for claims on the loop. A second claim of a boot
// is handed to `on_second_claim`. Owned by main().
#pragma once

#include <functional>

#include "agent/tools.h"
#include "core/curl/http_client.h"
#include "core/loop/loop.h"

namespace leasehold {

class BootdClient : public BootControl {
 public:
  BootdClient(Loop& loop, CurlMulti& http, std::string socket_path);

  Status arm(const std::string& mac, const Json& arming) override;
  Status disarm(const std::string& mac) override;

  // Starts polling; loop thread, once.
  void watch_claims(std::function<void(const std::string& boot)> on_second_claim);
  bool reachable() const { return reachable_; }

 private:
  Status call(const std::string& method, const std::string& mac, const std::string& body);
  void poll();
  void polled(Result<HttpResponse> response);
  HttpOptions options(int64_t timeout_ms) const;

  Loop& loop_;
  CurlMulti& http_;
  std::string socket_path_;
  std::function<void(const std::string&)> on_second_claim_;
  std::string incarnation_;
  int64_t after_ = 0;
  bool reachable_ = false;
};

}  // namespace leasehold
