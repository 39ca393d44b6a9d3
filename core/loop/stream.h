// One connected byte stream of libuv (TCP or Unix socket). Owned by a connection; loop's thread
// only. Its events come from a fresh stack of the loop, never from inside a call to it, and may
// destroy it. It knows bytes only: no TLS, no messages, no time.
#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/loop/loop.h"

namespace leasehold {

enum class StreamKind { kTcp, kUnix };
enum class StreamEnd { kFinished, kBroken };  // the peer sent FIN; anything else
enum class CloseManner { kPlain, kReset };    // kReset: TCP RST instead of FIN

class Stream {
 public:
  struct Events {
    std::function<void(std::string_view)> on_data;
    std::function<void()> on_drained;       // everything written is with the kernel
    std::function<void(StreamEnd)> on_end;  // at most once; the stream is still to be closed
    std::function<void()> on_closed;        // after close(), once
  };

  Stream(Loop& loop, StreamKind kind);
  ~Stream();  // closes, without any event
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Takes the connection that waits at `listener`.
  Status accept(uv_stream_t* listener);
  // The numeric address of the other side of a TCP stream; the uid at the other end of a Unix one.
  std::string peer_address() const;
  int64_t peer_uid() const;
  // `done` says whether it worked.
  void connect_unix(const std::string& path, std::function<void(bool)> done);

  void begin(Events events);  // reading starts
  void pause_reading(bool paused);
  void write(std::string bytes);
  size_t queued_bytes() const;
  // FIN after what is queued; reading goes on.
  void finish_writing();
  void close(CloseManner manner);

 private:
  struct State;
  State* state_;  // lives on until libuv has let go of the handle
};

}  // namespace leasehold
