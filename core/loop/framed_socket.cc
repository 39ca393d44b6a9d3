#include "core/loop/framed_socket.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/loop/frame_connection.h"
#include "core/loop/listen_socket.h"

namespace leasehold {

struct FramedListener::Impl {
  Impl(Loop& loop, FramedListenerOptions options_in, Events events_in)
      : options(std::move(options_in)),
        events(std::move(events_in)),
        socket(loop, ListenAddress{"", 0, options.path, options.mode},
               [this](std::unique_ptr<Stream> stream) { on_connection(std::move(stream)); }) {}

  const FramedListenerOptions options;
  const Events events;
  ListenSocket socket;
  uint64_t next_peer = 1;
  std::unordered_map<uint64_t, std::unique_ptr<FrameConnection>> peers;

  // Destroying the stream closes it.
  void on_connection(std::unique_ptr<Stream> stream) {
    const auto& uids = options.allowed_uids;
    const int64_t uid = stream->peer_uid();
    const bool allowed = uids.empty() || std::find(uids.begin(), uids.end(), uid) != uids.end();
    if (!allowed || peers.size() >= limits::kFramePeers) {
      const char* why = allowed ? "too many connections" : "this user may not use the socket";
      log_line(LogEvent::kRequestRefused, {{"socket", options.path}, {"uid", uid}, {"why", why}});
      return;
    }
    const uint64_t peer = next_peer++;
    FrameConnection::Events heard;
    heard.on_frame = [this, peer](std::string frame) { events.on_frame(peer, std::move(frame)); };
    heard.on_closed = [this, peer] {
      const auto ended = peers.extract(peer);  // destroyed when this returns
      events.on_close(peer);
    };
    peers[peer] = std::make_unique<FrameConnection>(std::move(stream), std::move(heard));
    events.on_connect(peer);
  }
};

FramedListener::FramedListener(Loop& loop, FramedListenerOptions options, Events events)
    : impl_(std::make_unique<Impl>(loop, std::move(options), std::move(events))) {}

FramedListener::~FramedListener() = default;

Status FramedListener::start() { return impl_->socket.start(); }

Status FramedListener::send(uint64_t peer, std::string_view frame) {
  const auto found = impl_->peers.find(peer);
  if (found == impl_->peers.end()) return Error(Code::kUnavailable, "the peer has gone");
  return found->second->send(frame);
}

void FramedListener::close(uint64_t peer) {
  const auto found = impl_->peers.find(peer);
  if (found != impl_->peers.end()) found->second->close();
}

struct FramedClient::Impl {
  Impl(Loop& loop_in, std::string path_in, Events events_in)
      : loop(loop_in), path(std::move(path_in)), events(std::move(events_in)) {}
  ~Impl() {
    if (retry != 0) loop.cancel(retry);
  }

  Loop& loop;
  const std::string path;
  const Events events;
  std::unique_ptr<Stream> connecting;
  std::unique_ptr<FrameConnection> connection;
  uint64_t retry = 0;

  void connect() {
    connecting = std::make_unique<Stream>(loop, StreamKind::kUnix);
    connecting->connect_unix(path, [this](bool connected) {
      auto stream = std::exchange(connecting, nullptr);
      if (connected) {
        on_connected(std::move(stream));
      } else {
        retry_later();
      }
    });
  }
  void on_connected(std::unique_ptr<Stream> stream) {
    FrameConnection::Events heard;
    heard.on_frame = events.on_frame;
    heard.on_closed = [this] {
      const auto ended = std::exchange(connection, nullptr);
      retry_later();
      events.on_down();
    };
    connection = std::make_unique<FrameConnection>(std::move(stream), std::move(heard));
    events.on_up();
  }
  void retry_later() {
    retry = loop.after(limits::kFrameReconnectMs, [this] {
      retry = 0;
      connect();
    });
  }
};

FramedClient::FramedClient(Loop& loop, std::string path, Events events)
    : impl_(std::make_unique<Impl>(loop, std::move(path), std::move(events))) {}

FramedClient::~FramedClient() = default;

void FramedClient::start() { impl_->connect(); }

bool FramedClient::up() const {
  return impl_->connection != nullptr && !impl_->connection->closing();
}

Status FramedClient::send(std::string_view frame) {
  if (!up()) return Error(Code::kUnavailable, "not connected to " + impl_->path);
  return impl_->connection->send(frame);
}

size_t FramedClient::unsent_bytes() const { return up() ? impl_->connection->unsent_bytes() : 0; }

void FramedClient::drop() {
  if (impl_->connection != nullptr) impl_->connection->close();
}

}  // namespace leasehold
