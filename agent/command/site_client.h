// The commands' side of the agent's local socket. Blocking; one call per object's lifetime or many.
// Errors are those that the agent answered, or UNAVAILABLE saying how to reach it.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/curl/http_client.h"

namespace leasehold {

// What an answer says under a key, whatever else it may be: false and 0 if it does not say.
bool flag_of(const Json& object, const std::string& key);
int64_t number_of(const Json& object, const std::string& key);

class SiteClient {
 public:
  explicit SiteClient(std::string socket_path) : socket_path_(std::move(socket_path)) {}

  Result<Json> get(const std::string& path);
  Result<std::string> get_text(const std::string& path);
  Result<Json> post(const std::string& path, const Json& body);

 private:
  Result<std::string> call(const std::string& method, const std::string& path,
                           const std::string& body);
  std::string socket_path_;
  CurlEasyClient http_;
};

}  // namespace leasehold
