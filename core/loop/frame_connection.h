// Length-prefixed frames (4 bytes, big-endian) on one Stream, both directions bounded. Owned by a
// FramedListener or FramedClient; loop's thread only. What is in a frame is its owner's business.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/loop/stream.h"

namespace leasehold {

class FrameConnection {
 public:
  struct Events {
    std::function<void(std::string)> on_frame;
    std::function<void()> on_closed;  // from a fresh stack, once; may destroy the connection
  };

  // `stream` is connected.
  FrameConnection(std::unique_ptr<Stream> stream, Events events);
  FrameConnection(const FrameConnection&) = delete;
  FrameConnection& operator=(const FrameConnection&) = delete;

  // TOO_LARGE (or empty): nothing is sent. UNAVAILABLE: it is closing, or is closed now because
  // the peer leaves more than limits::kFrameQueueBytes unread.
  Status send(std::string_view frame);
  size_t unsent_bytes() const { return stream_->queued_bytes(); }
  void close();
  bool closing() const { return closing_; }

 private:
  void on_data(std::string_view bytes);

  std::unique_ptr<Stream> stream_;
  Events events_;
  std::string received_;  // less than one frame, between events
  bool closing_ = false;
};

}  // namespace leasehold
