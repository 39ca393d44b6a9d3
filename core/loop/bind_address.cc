#include "core/loop/bind_address.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include <cerrno>
#include <cstring>

namespace leasehold {

namespace {

constexpr int kSocketFlags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

Error not_bound(const std::string& address, int reason) {
  switch (reason) {
    case EADDRINUSE:
      return Error(Code::kConfig, address +
                                      " is in use by another program: stop that one, or configure "
                                      "another address");
    case EACCES:
    case EPERM:
      return Error(Code::kConfig, address +
                                      " may not be bound by this user: grant it the right, or "
                                      "configure another address");
    case EADDRNOTAVAIL:
      return Error(Code::kConfig, address +
                                      " is not an address of this machine: configure one of its "
                                      "own");
    case ENOENT:
    case ENOTDIR:
      return Error(Code::kConfig, address + " lies in a folder that does not exist: create it");
    default:
      return Error(Code::kConfig, address + " cannot be bound: " + std::strerror(reason) +
                                      "; configure another address");
  }
}

Result<sockaddr_un> unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return Error(Code::kConfig, path + " is too long for a Unix socket (at most " +
                                    std::to_string(sizeof(address.sun_path) - 1) +
                                    " bytes): configure a shorter path");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Whether somebody accepts connections there. A full backlog is somebody, too.
Result<bool> is_answered(const sockaddr_un& address) {
  FileDescriptor probe(::socket(AF_UNIX, kSocketFlags, 0));
  if (!probe.valid()) return Error(Code::kIo, std::strerror(errno));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(probe.get(), generic, sizeof(address)) == 0) return true;
  return errno != ECONNREFUSED && errno != ENOENT;
}

Status remove_stale(const std::string& path, const sockaddr_un& address) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return {};  // bind() says what else is wrong
  if (!S_ISSOCK(found.st_mode)) {
    return Error(Code::kConfig,
                 path + " exists and is not a socket: move it away, or configure another path");
  }
  if (TRY(is_answered(address))) return not_bound(path, EADDRINUSE);
  if (::unlink(path.c_str()) != 0) return not_bound(path, errno);
  return {};
}

}  // namespace

Status bind_tcp(const std::string& host, uint16_t port, FileDescriptor* bound) {
  sockaddr_storage storage{};
  socklen_t length = 0;
  if (uv_ip4_addr(host.c_str(), port, reinterpret_cast<sockaddr_in*>(&storage)) == 0) {
    length = sizeof(sockaddr_in);
  } else if (uv_ip6_addr(host.c_str(), port, reinterpret_cast<sockaddr_in6*>(&storage)) == 0) {
    length = sizeof(sockaddr_in6);
  } else {
    return Error(Code::kConfig, "'" + host + "' is not a numeric address: write one like 10.0.0.1");
  }
  const std::string name =
      (storage.ss_family == AF_INET6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
  bound->reset(::socket(storage.ss_family, kSocketFlags, 0));
  if (!bound->valid()) return not_bound(name, errno);
  const int on = 1;
  ::setsockopt(bound->get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(bound->get(), reinterpret_cast<sockaddr*>(&storage), length) != 0 ||
      ::listen(bound->get(), 1) != 0) {  // Linux may find the port in use only here
    return not_bound(name, errno);
  }
  return {};
}

Status bind_unix(const std::string& path, unsigned mode, FileDescriptor* bound) {
  const sockaddr_un address = TRY(unix_address(path));
  TRY(remove_stale(path, address));
  bound->reset(::socket(AF_UNIX, kSocketFlags, 0));
  if (!bound->valid()) return not_bound(path, errno);
  // The file is created with the socket's own mode (less the umask), so it is at no time more open
  // than meant; what the umask took is given back afterwards.
  ::fchmod(bound->get(), mode);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(bound->get(), generic, sizeof(address)) != 0) return not_bound(path, errno);
  if (::chmod(path.c_str(), mode) != 0) return not_bound(path, errno);
  return {};
}

}  // namespace leasehold
