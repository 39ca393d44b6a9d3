#include "core/loop/stream.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <memory>
#include <utility>

#include "core/base/limits.h"

namespace leasehold {

struct Stream::State {
  union {
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t unix_socket;
  } handle;
  StreamKind kind = StreamKind::kTcp;
  bool owned = true;      // false once the Stream is destroyed: no more events
  bool released = false;  // libuv has let go
  bool ended = false;
  bool reading = false;
  size_t writes_open = 0;
  Events events;
  uv_connect_t connecting;
  std::function<void(bool)> on_connected;

  uv_handle_t* raw() { return reinterpret_cast<uv_handle_t*>(&handle.stream); }
  bool closing() { return uv_is_closing(raw()) != 0; }
  static State* of(uv_stream_t* stream) { return static_cast<State*>(stream->data); }

  void end(StreamEnd how) {
    if (ended || !owned || closing()) return;
    ended = true;
    if (events.on_end) events.on_end(how);
  }
  static void on_alloc(uv_handle_t*, size_t, uv_buf_t* buffer) {
    *buffer = uv_buf_init(new char[limits::kStreamReadBytes], limits::kStreamReadBytes);
  }
  static void on_read(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
    std::unique_ptr<char[]> bytes(buffer->base);
    State* state = of(stream);
    if (count < 0) {
      uv_read_stop(stream);
      state->reading = false;
      state->end(count == UV_EOF ? StreamEnd::kFinished : StreamEnd::kBroken);
    } else if (count > 0 && state->owned && !state->closing() && state->events.on_data) {
      state->events.on_data(std::string_view(bytes.get(), static_cast<size_t>(count)));
    }
  }
  // The state goes with the later of its two users: libuv and the Stream.
  static void on_close(uv_handle_t* handle) {
    auto* state = static_cast<State*>(handle->data);
    auto closed = std::move(state->events.on_closed);
    if (state->owned && closed) closed();  // usually destroys the Stream
    state->released = true;
    if (!state->owned) delete state;
  }

  void set_reading(bool wanted) {
    if (wanted == reading || ended || closing()) return;
    reading = wanted;
    if (wanted) {
      uv_read_start(&handle.stream, on_alloc, on_read);
    } else {
      uv_read_stop(&handle.stream);
    }
  }
};

namespace {

struct Write {
  uv_write_t request;
  std::string bytes;
};

}  // namespace

Stream::Stream(Loop& loop, StreamKind kind) : state_(new State) {
  state_->kind = kind;
  if (kind == StreamKind::kTcp) {
    uv_tcp_init(loop.raw(), &state_->handle.tcp);
  } else {
    uv_pipe_init(loop.raw(), &state_->handle.unix_socket, 0);
  }
  state_->handle.stream.data = state_;
}

Stream::~Stream() {
  state_->owned = false;
  if (state_->released) {
    delete state_;
  } else {
    close(CloseManner::kPlain);
  }
}

Status Stream::accept(uv_stream_t* listener) {
  const int result = uv_accept(listener, &state_->handle.stream);
  if (result != 0) return Error(Code::kUnavailable, uv_strerror(result));
  if (state_->kind == StreamKind::kTcp) uv_tcp_nodelay(&state_->handle.tcp, 1);
  return {};
}

std::string Stream::peer_address() const {
  sockaddr_storage address{};
  int length = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (state_->kind != StreamKind::kTcp) return "";
  if (uv_tcp_getpeername(&state_->handle.tcp, generic, &length) != 0) return "";
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    uv_ip4_name(reinterpret_cast<sockaddr_in*>(&address), text, sizeof(text));
  } else if (address.ss_family == AF_INET6) {
    uv_ip6_name(reinterpret_cast<sockaddr_in6*>(&address), text, sizeof(text));
  }
  return text;
}

int64_t Stream::peer_uid() const {
  uv_os_fd_t fd = -1;
  ucred peer{};
  socklen_t length = sizeof(peer);
  if (state_->kind != StreamKind::kUnix || uv_fileno(state_->raw(), &fd) != 0) return -1;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return -1;
  return static_cast<int64_t>(peer.uid);
}

void Stream::connect_unix(const std::string& path, std::function<void(bool)> done) {
  state_->on_connected = std::move(done);
  state_->connecting.data = state_;
  uv_pipe_connect(&state_->connecting, &state_->handle.unix_socket, path.c_str(),
                  [](uv_connect_t* request, int status) {
                    auto* state = static_cast<State*>(request->data);
                    auto connected = std::move(state->on_connected);
                    if (state->owned && !state->closing()) connected(status == 0);
                  });
}

void Stream::begin(Events events) {
  state_->events = std::move(events);
  state_->set_reading(true);
}

void Stream::pause_reading(bool paused) { state_->set_reading(!paused); }

void Stream::write(std::string bytes) {
  if (bytes.empty() || state_->closing()) return;
  auto* write = new Write{{}, std::move(bytes)};
  write->request.data = write;
  uv_buf_t buffer = uv_buf_init(write->bytes.data(), static_cast<unsigned>(write->bytes.size()));
  state_->writes_open++;
  auto on_written = [](uv_write_t* request, int status) {
    State* state = State::of(request->handle);
    delete static_cast<Write*>(request->data);
    state->writes_open--;
    if (status < 0) {
      state->end(StreamEnd::kBroken);
    } else if (state->writes_open == 0 && state->owned && !state->closing()) {
      if (state->events.on_drained) state->events.on_drained();
    }
  };
  if (uv_write(&write->request, &state_->handle.stream, &buffer, 1, on_written) != 0) {
    // Not a connected stream any more: the end is about to be read.
    state_->writes_open--;
    delete write;
  }
}

size_t Stream::queued_bytes() const {
  return uv_stream_get_write_queue_size(&state_->handle.stream);
}

void Stream::finish_writing() {
  if (state_->closing()) return;
  auto* request = new uv_shutdown_t;
  auto on_shutdown = [](uv_shutdown_t* done, int) { delete done; };
  if (uv_shutdown(request, &state_->handle.stream, on_shutdown) != 0) delete request;
}

void Stream::close(CloseManner manner) {
  if (state_->closing()) return;
  uv_os_fd_t fd = -1;
  if (manner == CloseManner::kReset && uv_fileno(state_->raw(), &fd) == 0) {
    const linger at_once{1, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  }
  uv_close(state_->raw(), State::on_close);
}

}  // namespace leasehold
