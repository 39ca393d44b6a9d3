// The command's side of the coordinator's HTTPS API (docs/coordinator-api.md section 1). Blocking,
// from one thread. The server is judged by core/tls: a coordinator under our root, for the host
// that was meant. Errors are the coordinator's own, or say why it was not reached; nothing is sent
// twice.
#pragma once

#include <string>
#include <vector>

#include "coordinator/cli/client_config.h"
#include "core/base/json.h"
#include "core/http/message.h"

namespace leasehold {

// One part of a path or query, percent-encoded where it must be.
std::string url_part(std::string_view text);

// "?site=s1&state=open" of what is not empty; "" if nothing is.
using Query = std::vector<std::pair<std::string, std::string>>;
std::string query_text(const Query& query);

class ApiClient {
 public:
  ApiClient(ClientConfig config, HttpClient& http, Clock& clock);
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;

  // `path` as "/v1/nodes/s1/n1?x=y". `wait_s` is what the coordinator may take longer (long polls).
  Result<Json> get(const std::string& path, int64_t wait_s = 0);
  Result<std::string> get_bytes(const std::string& path);
  Result<Json> send(const std::string& method, const std::string& path, const Json& body);
  // The items of a list, page after page, up to `most` (0: all of them).
  Result<Json> list(const std::string& path, Query query, size_t most = 0);

  // The former call's error was about reaching the coordinator, and may be gone the next time: it
  // is not there, or ended in the middle. False for a refused certificate, or an answer.
  bool may_come_back(const Error& error) const;
  const ClientConfig& config() const { return config_; }

 private:
  Result<std::string> call(const HttpRequest& request, int64_t wait_s);
  Error unreached(const Error& error) const;
  Status judge_server(const std::vector<std::string>& chain_der);

  ClientConfig config_;
  HttpClient& http_;
  Clock& clock_;
  std::string server_refused_;  // why its certificate was, in the last call; or ""
};

}  // namespace leasehold
