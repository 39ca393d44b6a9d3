// A hand-written BMC behind the HttpClient interface: well-behaved by itself, with answers that a
// test puts in front of it for one request each. It records every request.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/http/message.h"
#include "drivers/redfish/redfish_bmc.h"

namespace leasehold {

class FakeClock : public Clock {
 public:
  int64_t slept_ms = 0;
  int64_t now_ms() override { return slept_ms; }
  int64_t monotonic_ms() override { return slept_ms; }
  void sleep_ms(int64_t duration_ms) override { slept_ms += duration_ms; }
};

inline const std::string kSessions = "/redfish/v1/SessionService/Sessions";
inline const std::string kSystem = "/redfish/v1/Systems/1";
inline const std::string kSettings = "/redfish/v1/Systems/1/Settings";
inline const std::string kReset = "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset";
inline const std::string kAccount = "/redfish/v1/AccountService/Accounts/2";
inline const std::string kInventory = "/redfish/v1/UpdateService/FirmwareInventory";

class FakeBmc : public HttpClient {
 public:
  using Answer = std::function<Result<HttpResponse>(const HttpRequest&)>;

  FakeBmc();
  Result<HttpResponse> send(const HttpRequest& request, const HttpOptions& options) override;

  // The next unanswered requests of this form ("PATCH /redfish/v1/...") get these, in order.
  void next(const std::string& form, Answer answer);
  void next(const std::string& form, int status, const std::string& body = "",
            HttpHeaders headers = {});
  // What the BMC would have done by itself.
  Result<HttpResponse> act(const HttpRequest& request);

  int count(const std::string& form) const;
  // The forms of all requests, for exact sequences.
  std::vector<std::string> forms() const;
  const HttpRequest& last(const std::string& form) const;

  std::map<std::string, Json> resources;
  std::map<std::string, std::string> etags;      // path -> ETag header of its GET
  std::map<std::string, std::string> passwords;  // user -> password
  std::map<std::string, std::string> sessions;   // token -> session path
  std::vector<HttpRequest> requests;
  std::vector<HttpOptions> options_seen;
  std::function<bool(const HttpRequest&)> accepts_tag;  // of a PATCH; none: any
  int refused_tag_status = 412;

  std::unique_ptr<RedfishBmc> open(const std::string& password = "old-Secret.1");
  FakeClock clock;

 private:
  Result<HttpResponse> log_in(const HttpRequest& request);
  Result<HttpResponse> patch(const std::string& path, const HttpRequest& request);

  std::map<std::string, std::deque<Answer>> answers_;
  int tokens_ = 0;
};

// {"error": {..., "@Message.ExtendedInfo": [{"MessageId": id, ...}]}}, as bugreports.md's M(x).
std::string error_body(const std::string& id, const std::string& argument = "",
                       const std::string& text = "");

}  // namespace leasehold
