#include "core/loop/listen_socket.h"

#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/loop/bind_address.h"

namespace leasehold {

struct ListenSocket::Handle {
  union {
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t unix_socket;
  } handle;
  ListenSocket* owner = nullptr;

  static void on_connection(uv_stream_t* listener, int status) {
    ListenSocket* owner = static_cast<Handle*>(listener->data)->owner;
    // A failed accept (no more descriptors) has been answered by libuv; the next one may work.
    if (status != 0 || owner == nullptr) return;
    const bool tcp = owner->address_.unix_path.empty();
    auto stream =
        std::make_unique<Stream>(owner->loop_, tcp ? StreamKind::kTcp : StreamKind::kUnix);
    if (stream->accept(listener).ok()) owner->on_connection_(std::move(stream));
  }
};

ListenSocket::ListenSocket(Loop& loop, ListenAddress address, OnConnection on_connection)
    : loop_(loop), address_(std::move(address)), on_connection_(std::move(on_connection)) {}

ListenSocket::~ListenSocket() {
  if (handle_ == nullptr) return;
  struct stat found {};
  if (file_inode_ != 0 && ::lstat(address_.unix_path.c_str(), &found) == 0 &&
      found.st_ino == file_inode_ && found.st_dev == file_device_) {
    ::unlink(address_.unix_path.c_str());
  }
  handle_->owner = nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(&handle_->handle.stream),
           [](uv_handle_t* handle) { delete static_cast<Handle*>(handle->data); });
}

Status ListenSocket::start() {
  LEASEHOLD_CHECK(handle_ == nullptr, "a listener is started once");
  LEASEHOLD_CHECK(address_.tcp_host.empty() != address_.unix_path.empty(),
                  "a listener has a TCP or a Unix address");
  FileDescriptor bound;
  if (address_.unix_path.empty()) {
    TRY(bind_tcp(address_.tcp_host, address_.tcp_port, &bound));
  } else {
    TRY(bind_unix(address_.unix_path, address_.unix_mode, &bound));
    struct stat file {};
    if (::lstat(address_.unix_path.c_str(), &file) == 0) {
      file_device_ = file.st_dev;
      file_inode_ = file.st_ino;
    }
  }
  open(bound.release());
  return {};
}

void ListenSocket::open(int fd) {
  handle_ = new Handle;
  handle_->owner = this;
  auto& handle = handle_->handle;
  int result = 0;
  if (address_.unix_path.empty()) {
    uv_tcp_init(loop_.raw(), &handle.tcp);
    result = uv_tcp_open(&handle.tcp, fd);
    sockaddr_storage bound{};
    int length = sizeof(bound);
    uv_tcp_getsockname(&handle.tcp, reinterpret_cast<sockaddr*>(&bound), &length);
    // The port lies at the same place for both families.
    port_ = ntohs(reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
  } else {
    uv_pipe_init(loop_.raw(), &handle.unix_socket, 0);
    result = uv_pipe_open(&handle.unix_socket, fd);
  }
  handle.stream.data = handle_;
  LEASEHOLD_CHECK(result == 0, uv_strerror(result));
  result = uv_listen(&handle.stream, limits::kListenBacklog, Handle::on_connection);
  LEASEHOLD_CHECK(result == 0, uv_strerror(result));
}

}  // namespace leasehold
