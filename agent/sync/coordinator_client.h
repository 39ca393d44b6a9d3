// The agent's calls to its coordinator (docs/coordinator-api.md section 2): HTTPS with the site's
// certificate, the server judged each time, one kept connection per thread that calls. Every call
// blocks its thread, and comes back at once when the HttpClient is shut down. Thread-safe.
#pragma once

#include <functional>
#include <string>

#include "agent/sync/coordinator_place.h"
#include "agent/tools.h"
#include "core/http/message.h"

namespace leasehold {

class CoordinatorClient {
 public:
  // `instance` names this life of this agent. A coordinator that knows a newer one answers
  // SUPERSEDED; `on_superseded` is told of it before the call returns.
  CoordinatorClient(HttpClient& http, CoordinatorPlace place, const CurrentIdentity& identity,
                    Clock& clock, std::string instance,
                    std::function<void(const std::string& why)> on_superseded);

  // POSTs what the coordinator takes twice without harm. The coordinator's own error, or
  // UNAVAILABLE or TIMEOUT if it was not reached.
  Result<Json> post(const std::string& path, const Json& body,
                    int64_t timeout_ms = limits::kSyncCallMs);
  Result<std::string> post_text(const std::string& path, std::string body,
                                int64_t timeout_ms = limits::kSyncCallMs);

  const CoordinatorPlace& place() const { return place_; }
  const std::string& instance() const { return instance_; }
  // For an answer that says so in another way.
  void superseded(const std::string& why) { on_superseded_(why); }

 private:
  HttpOptions options(int64_t timeout_ms) const;

  HttpClient& http_;
  CoordinatorPlace place_;
  const CurrentIdentity& identity_;
  Clock& clock_;
  std::string instance_;
  std::function<void(const std::string&)> on_superseded_;
};

// An error that says only that nobody answered: it is tried again, and changes nothing.
bool is_away(const Error& error);

}  // namespace leasehold
