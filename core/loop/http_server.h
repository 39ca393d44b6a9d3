// An HTTP/1.1 server (llhttp) over TCP, TLS or a Unix socket, on a Loop. One request at a time per
// connection; answers may come later (long poll), from the loop's thread. Bounds from
// core/base/limits.h: header and body bytes, idle and slow peers (limits::kHttpIdleMs to send a
// whole request), connections in all and per peer address. Keep-alive; no chunked answers: every
// answer has a Content-Length, HEAD is answered as GET without the body. Owned by main(); lives as
// long as its Loop runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/http/message.h"
#include "core/loop/loop.h"
#include "core/tls/tls.h"

namespace leasehold {

struct ServerRequest {
  uint64_t connection = 0;
  std::string method;  // HEAD stays HEAD: answer it as GET, the body is left out on the way
  std::string path;    // percent-decoded, without the query
  std::string query;   // raw
  HttpHeaders headers;
  std::string body;
  std::string peer_address;                 // TCP: numeric address
  int64_t peer_uid = -1;                    // Unix socket (SO_PEERCRED)
  std::vector<std::string> peer_chain_der;  // TLS client certificate, leaf first; may be empty
};
// The value of a query parameter ("after" of "after=3&x=1"), or "".
std::string query_value(const std::string& query, const std::string& name);

// Answers one request, once; a second call and an answer to a closed connection are ignored.
using Responder = std::function<void(HttpResponse)>;

struct HttpServerOptions {
  // Exactly one of the two addresses.
  std::string tcp_host;  // numeric; with tcp_port (0: any free one)
  uint16_t tcp_port = 0;
  std::string unix_path;  // replaced if a stale socket lies there
  unsigned unix_mode = 0660;
  std::vector<int64_t> allowed_uids;  // Unix: peers refused otherwise; empty means any

  bool tls = false;
  TlsServerConfig tls_config;
  size_t max_body_bytes = limits::kHttpBodyBytes;
  bool host_optional = false;  // bootd: firmware leaves the Host field out (quirk X17)
  int64_t idle_ms = limits::kHttpIdleMs;
  size_t max_connections = limits::kHttpConnections;
  size_t max_connections_per_peer = limits::kHttpConnections;
};

class HttpServer {
 public:
  using Handler = std::function<void(const ServerRequest&, Responder)>;

  HttpServer(Loop& loop, HttpServerOptions options, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Called when a connection has gone, for whoever keeps state per connection.
  void on_close(std::function<void(uint64_t connection)> callback);
  // CONFIG: the address is in use (says which and what to do) or may not be bound.
  Status start();
  uint16_t port() const;
  // New connections are served with this from now on; those that are open keep what they have.
  Status use_tls(const TlsServerConfig& config);
  // Closes a connection now, a half-sent answer with it. Unknown ids are ignored.
  void close(uint64_t connection);
  // Closes without an answer: for simsite's fault "drop" (`reset` sends RST instead of FIN).
  void abort(uint64_t connection, bool reset);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// {"code","message","field"} with the HTTP status that fits the code.
HttpResponse error_response(const Error& error);
HttpResponse json_response(int status, const std::string& json);

}  // namespace leasehold
