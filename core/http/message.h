// HTTP/1.1 messages as values, shared by our servers (core/loop) and our clients (core/curl), and
// the blocking client interface through which every outgoing HTTP call of a step goes, so that a
// simulation can take its place. Header names compare without case.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/limits.h"
#include "core/base/result.h"

namespace leasehold {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// The first value of that name, or "".
std::string header_value(const HttpHeaders& headers, const std::string& name);

struct HttpRequest {
  std::string method = "GET";
  std::string url;  // absolute
  HttpHeaders headers;
  std::string body;
};

// A body that is too large to hold. The server reads it piece by piece as its peer takes them.
class BodySource {
 public:
  virtual ~BodySource() = default;
  virtual size_t size() const = 0;
  // Exactly min(max_bytes, size() - offset) bytes. An error closes the connection half-way.
  virtual Result<std::string> read(size_t offset, size_t max_bytes) = 0;
};

struct HttpResponse {
  int status = 0;
  HttpHeaders headers;
  std::string body;
  // Servers only: sent in place of `body`. Shared because a response is a value that is copied.
  std::shared_ptr<BodySource> source = nullptr;
};

// How a client judges the server's certificates and what it presents itself. `judge` gets the
// chain (leaf first, DER) after the peer proved possession of the leaf's key; it is the only word
// on trust. Without a judge every server is refused.
enum class HostCheck {
  kRequired,  // the TLS library compares the URL's host as well
  kByPin,     // a BMC: its certificate names nothing, the judge knows the very leaf
};
struct TlsClientPolicy {
  std::function<Status(const std::vector<std::string>& chain_der)> judge;
  std::string certificate_chain_pem;  // leaf first; may be empty
  std::string private_key_pem;
  // What the judge holds the server to and the client presents, in one word (a pin). A connection
  // may be used again by whoever has the same word; empty: by nobody.
  std::string connection_key;
  HostCheck host_check = HostCheck::kRequired;
};

struct HttpOptions {
  int64_t connect_timeout_ms = limits::kBmcConnectMs;
  int64_t timeout_ms = limits::kBmcRequestMs;
  size_t max_body_bytes = limits::kBmcBodyBytes;
  TlsClientPolicy tls;
  std::string connect_to;        // "address:port" to connect to instead of the URL's; or ""
  std::string unix_socket_path;  // or ""
  bool fresh_connection = true;  // no keep-alive (quirk T8)
  // A POST that the peer answers alike when it comes twice: it may take a kept connection too.
  bool repeatable = false;
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // Blocks the calling thread. UNAVAILABLE (nothing was sent: refused, no route, TLS refused),
  // TIMEOUT or MALFORMED (the request may have had its effect), TOO_LARGE. A status of 400 or more
  // is a response, not an error. Redirects are not followed.
  virtual Result<HttpResponse> send(const HttpRequest& request, const HttpOptions& options) = 0;
};

}  // namespace leasehold
