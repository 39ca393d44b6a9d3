// A listening TCP or Unix socket on a Loop, for HttpServer and FramedListener. A stale Unix socket
// file is replaced, one that somebody answers on is not. Loop's thread only. It accepts; whom to
// refuse is its owner's business.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"

namespace leasehold {

struct ListenAddress {
  std::string tcp_host;  // numeric
  uint16_t tcp_port = 0;
  std::string unix_path;  // instead of TCP
  unsigned unix_mode = 0660;
};

class ListenSocket {
 public:
  using OnConnection = std::function<void(std::unique_ptr<Stream>)>;

  ListenSocket(Loop& loop, ListenAddress address, OnConnection on_connection);
  ~ListenSocket();  // also removes the Unix socket file, if it is still this one
  ListenSocket(const ListenSocket&) = delete;
  ListenSocket& operator=(const ListenSocket&) = delete;

  // CONFIG: the address is in use or may not be bound; the message names it and says what to do.
  Status start();
  uint16_t port() const { return port_; }

 private:
  struct Handle;
  void open(int fd);

  Loop& loop_;
  ListenAddress address_;
  OnConnection on_connection_;
  Handle* handle_ = nullptr;  // lives on until libuv has let go of it
  uint16_t port_ = 0;
  uint64_t file_device_ = 0, file_inode_ = 0;  // of the Unix socket file
};

}  // namespace leasehold
