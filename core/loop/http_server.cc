#include "core/loop/http_server.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/loop/http_connection.h"
#include "core/loop/listen_socket.h"

namespace leasehold {

struct HttpServer::Impl : HttpConnectionHost {
  Impl(Loop& loop_in, HttpServerOptions options_in, Handler handler_in)
      : loop(loop_in),
        options(std::move(options_in)),
        handler(std::move(handler_in)),
        listener(
            loop_in,
            ListenAddress{options.tcp_host, options.tcp_port, options.unix_path, options.unix_mode},
            [this](std::unique_ptr<Stream> stream) { on_connection(std::move(stream)); }) {}

  struct Entry {
    std::unique_ptr<HttpConnection> connection;
    std::string peer;      // what max_connections_per_peer counts
    bool refused = false;  // never served, so its end is nobody's business
  };

  Loop& loop;
  const HttpServerOptions options;
  const Handler handler;
  SslCtx tls;
  ListenSocket listener;
  std::function<void(uint64_t)> on_close_callback;
  uint64_t next_connection = 1;
  std::unordered_map<uint64_t, Entry> live, closing;
  std::map<std::string, size_t> live_per_peer;
  size_t refused_live = 0;
  // Responders hold it weakly, because they may outlive the server; nobody else shares it.
  std::shared_ptr<Impl*> self = std::make_shared<Impl*>(this);

  void on_connection(std::unique_ptr<Stream> stream);
  Status admit(const std::string& peer, int64_t peer_uid) const;
  void on_request(HttpConnection& connection, uint64_t serial, ServerRequest request) override;
  void on_closing(HttpConnection& connection) override;
  void on_closed(HttpConnection& connection) override;
  void close(uint64_t id, CloseManner manner);
};

void HttpServer::Impl::on_connection(std::unique_ptr<Stream> stream) {
  HttpConnectionOptions made;
  made.id = next_connection++;
  made.max_body_bytes = options.max_body_bytes;
  made.host_optional = options.host_optional;
  made.idle_ms = options.idle_ms;
  made.tls = tls.get();
  made.peer_address = stream->peer_address();
  made.peer_uid = stream->peer_uid();
  const std::string peer =
      made.peer_address.empty() ? "uid " + std::to_string(made.peer_uid) : made.peer_address;
  const Status admitted = admit(peer, made.peer_uid);
  if (!admitted.ok()) {
    if (refused_live >= limits::kHttpRefusedConnections) return;  // closes the stream
    log_line(LogEvent::kRequestRefused, {{"peer", peer}, {"why", admitted.error().message}});
  }
  const uint64_t id = made.id;
  Entry& entry = live[id];
  entry.connection =
      std::make_unique<HttpConnection>(loop, *this, std::move(made), std::move(stream));
  entry.peer = peer;
  entry.refused = !admitted.ok();
  HttpConnection* connection = entry.connection.get();
  if (admitted.ok()) {
    live_per_peer[peer]++;
    connection->begin();
  } else {
    refused_live++;
    connection->begin_refused(error_response(admitted.error()));
  }
}

Status HttpServer::Impl::admit(const std::string& peer, int64_t peer_uid) const {
  const auto& uids = options.allowed_uids;
  const bool unix_socket = !options.unix_path.empty();
  if (unix_socket && !uids.empty() && std::find(uids.begin(), uids.end(), peer_uid) == uids.end()) {
    return Error(Code::kForbidden,
                 "the user with uid " + std::to_string(peer_uid) + " may not use this socket");
  }
  if (live.size() - refused_live >= options.max_connections) {
    return Error(Code::kUnavailable, "too many connections; try again later");
  }
  const auto found = live_per_peer.find(peer);
  if (found != live_per_peer.end() && found->second >= options.max_connections_per_peer) {
    return Error(Code::kUnavailable, "too many connections from " + peer + "; try again later");
  }
  return {};
}

void HttpServer::Impl::on_request(HttpConnection& connection, uint64_t serial,
                                  ServerRequest request) {
  const uint64_t id = connection.id();
  handler(request, [weak = std::weak_ptr<Impl*>(self), id, serial](HttpResponse response) {
    const auto alive = weak.lock();
    if (!alive) return;
    auto& connections = (*alive)->live;
    const auto found = connections.find(id);
    if (found != connections.end()) found->second.connection->answer(serial, std::move(response));
  });
}

void HttpServer::Impl::on_closing(HttpConnection& connection) {
  const auto found = live.find(connection.id());
  LEASEHOLD_CHECK(found != live.end(), "a connection closes once");
  if (found->second.refused) {
    refused_live--;
  } else if (--live_per_peer[found->second.peer] == 0) {
    live_per_peer.erase(found->second.peer);
  }
  closing.insert(live.extract(found));
}

void HttpServer::Impl::on_closed(HttpConnection& connection) {
  const auto ended = closing.extract(connection.id());  // destroyed when this returns
  if (!ended.mapped().refused && on_close_callback) on_close_callback(ended.key());
}

void HttpServer::Impl::close(uint64_t id, CloseManner manner) {
  const auto found = live.find(id);
  if (found != live.end()) found->second.connection->close(manner);
}

HttpServer::HttpServer(Loop& loop, HttpServerOptions options, Handler handler)
    : impl_(std::make_unique<Impl>(loop, std::move(options), std::move(handler))) {}

HttpServer::~HttpServer() = default;

void HttpServer::on_close(std::function<void(uint64_t connection)> callback) {
  impl_->on_close_callback = std::move(callback);
}

Status HttpServer::start() {
  if (impl_->options.tls) impl_->tls = TRY(make_server_context(impl_->options.tls_config));
  return impl_->listener.start();
}

Status HttpServer::use_tls(const TlsServerConfig& config) {
  LEASEHOLD_CHECK(impl_->options.tls, "a server without TLS");
  impl_->tls = TRY(make_server_context(config));
  return {};
}

uint16_t HttpServer::port() const { return impl_->listener.port(); }

void HttpServer::close(uint64_t connection) { impl_->close(connection, CloseManner::kPlain); }

void HttpServer::abort(uint64_t connection, bool reset) {
  impl_->close(connection, reset ? CloseManner::kReset : CloseManner::kPlain);
}

}  // namespace leasehold
