// Frames between two of our programs over a Unix stream socket (docs/protocols.md section 3): 4
// bytes of length, big-endian, then at most limits::kGatewayFrameBytes. The listening side checks
// the peer's uid; the client side reconnects by itself, for ever. Owned by main(); loop's thread
// only. All callbacks come from a fresh stack of the loop. They may call anything here but must
// not destroy the object that calls them. What a frame says is not looked at: an owner that cannot
// parse one closes the connection.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/loop/loop.h"

namespace leasehold {

struct FramedListenerOptions {
  std::string path;
  unsigned mode = 0660;
  std::vector<int64_t> allowed_uids;  // others are closed at once; empty means any
};

class FramedListener {
 public:
  struct Events {
    std::function<void(uint64_t peer)> on_connect;
    std::function<void(uint64_t peer, std::string frame)> on_frame;
    std::function<void(uint64_t peer)> on_close;  // also after close(); nothing of it comes later
  };

  FramedListener(Loop& loop, FramedListenerOptions options, Events events);
  ~FramedListener();  // closes every peer, without events
  FramedListener(const FramedListener&) = delete;
  FramedListener& operator=(const FramedListener&) = delete;

  // CONFIG as HttpServer::start().
  Status start();
  // UNAVAILABLE if the peer has gone, as its on_close says or soon will; so is one that does not
  // read, once limits::kFrameQueueBytes wait for it. TOO_LARGE: nothing was sent.
  Status send(uint64_t peer, std::string_view frame);
  void close(uint64_t peer);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class FramedClient {
 public:
  struct Events {
    std::function<void()> on_up;
    std::function<void(std::string frame)> on_frame;
    std::function<void()> on_down;  // after each on_up, once
  };

  FramedClient(Loop& loop, std::string path, Events events);
  ~FramedClient();  // without events
  FramedClient(const FramedClient&) = delete;
  FramedClient& operator=(const FramedClient&) = delete;

  // Connects; tries again limits::kFrameReconnectMs after each failure or loss.
  void start();
  bool up() const;
  // UNAVAILABLE if it is not up, TOO_LARGE; nothing was sent then.
  Status send(std::string_view frame);
  // Of what was sent: bytes that the other side has not taken yet.
  size_t unsent_bytes() const;
  // Lets go of a connection on which something was wrong; on_down follows, then a new one.
  void drop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leasehold
