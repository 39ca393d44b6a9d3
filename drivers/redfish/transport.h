// One BMC's HTTP, without authentication: builds the URL, bounds time and body, reads status, JSON
// and messages, and makes errors whose text holds no secret. Owned by one RedfishBmc, used on the
// thread of its step, blocks. Repeats reads only; never follows a link to another host.
#pragma once

#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/http/message.h"
#include "drivers/redfish/message.h"

namespace leasehold::redfish {

struct Call {
  std::string method = "GET";
  std::string path;  // "/redfish/v1/..."
  HttpHeaders headers;
  Json body;  // null: none
  int64_t timeout_ms = limits::kBmcRequestMs;
};

struct Reply {
  int status = 0;
  Json body;             // null if it was empty or (on anything but a good GET) no JSON
  std::string etag;      // header, "" if absent or blank (E3)
  std::string location;  // path only (T2)
  std::string token;     // X-Auth-Token
  std::vector<Message> messages;

  bool good() const { return status >= 200 && status < 300; }
};

// The path (and query) of a link; "" if it has none. The authority is dropped: a BMC behind a
// proxy names hosts that are not it, and no credential ever goes to another host (T2).
std::string path_of(const std::string& uri);
// The path of {"@odata.id": ...}, or "".
std::string link_of(const Json& reference);

class Transport {
 public:
  // `origin` is a BmcAddress's url. Whoever the TLS policy refuses is sent nothing.
  Transport(HttpClient& client, Clock& clock, std::string origin, TlsClientPolicy tls);

  // Sends once, whatever comes back. Errors are the HttpClient's.
  Result<Reply> send_once(const Call& call);
  // A GET: repeated after a 5xx or a broken answer, up to limits::kBmcGetTries (T8, T9, T11). Any
  // status is a Reply; MALFORMED if a good one holds no JSON, or holds a kept secret: what a BMC
  // says goes into rows and signed evidence, and no sound one says a password.
  Result<Reply> get(const std::string& path, const HttpHeaders& headers);

  // `reply` as an Error: "what: HTTP 400, PropertyNotWritable: words". After a call with an effect
  // a 5xx is TIMEOUT, since nobody knows what became of it; after a read it is UNAVAILABLE.
  Error error(const Call& call, const Reply& reply) const;

  // Never to appear in an error text of this object, even if the BMC echoes it (P6).
  void keep_secret(const std::string& secret);
  std::string without_secrets(std::string text) const;
  Clock& clock() { return clock_; }

 private:
  Error told(Error error) const;
  bool holds_secret(const Json& value) const;

  HttpClient& client_;
  Clock& clock_;
  std::string origin_;
  TlsClientPolicy tls_;
  std::vector<std::string> secrets_;
};

}  // namespace leasehold::redfish
