// For tests of loops, servers and clients: a Loop on a thread of its own, a temporary folder, a
// raw client socket, and a small certificate authority. Header only.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/loop/http_server.h"
#include "core/loop/loop.h"
#include "core/tls/crypto.h"
#include "core/tls/x509.h"
#include "tests/support/temp_folder.h"

namespace leasehold::test {

// Polls `condition` until it holds; false after ten seconds.
inline bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return condition();
}

inline int64_t elapsed_ms(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               since)
      .count();
}

// What lives on the loop is made and destroyed on it, through on_loop().
class LoopThread {
 public:
  LoopThread() : thread_([this] { loop_.run(); }) {}
  ~LoopThread() { stop(); }
  void stop() {
    if (!thread_.joinable()) return;
    loop_.stop();
    thread_.join();
  }
  Loop& loop() { return loop_; }
  void on_loop(const std::function<void()>& task) {
    std::promise<void> done;
    loop_.post([&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  }

 private:
  Loop loop_;
  std::thread thread_;
};

// An HttpServer on a LoopThread; destroyed on the loop.
class ServerUnderTest {
 public:
  ServerUnderTest(LoopThread& thread, HttpServerOptions options, HttpServer::Handler handler)
      : thread_(thread) {
    thread_.on_loop([&] {
      server_ =
          std::make_unique<HttpServer>(thread_.loop(), std::move(options), std::move(handler));
      server_->on_close([this](uint64_t) { closed++; });
      started = server_->start();
      port_ = server_->port();
    });
  }
  ~ServerUnderTest() { destroy(); }
  void destroy() {
    thread_.on_loop([&] { server_.reset(); });
  }
  HttpServer& server() { return *server_; }
  uint16_t port() const { return port_; }
  std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  std::string tls_url(const std::string& path) const {
    return "https://127.0.0.1:" + std::to_string(port_) + path;
  }

  std::atomic<int> closed{0};  // calls of on_close
  Status started;

 private:
  LoopThread& thread_;
  std::unique_ptr<HttpServer> server_;
  uint16_t port_ = 0;
};

inline HttpServerOptions on_any_port() {
  HttpServerOptions options;
  options.tcp_host = "127.0.0.1";
  return options;
}

// Answers with what it was asked.
inline void echo(const ServerRequest& request, const Responder& respond) {
  HttpResponse response{200, {{"Content-Type", "text/plain"}}, ""};
  response.body = request.method + " " + request.path + " " + request.query + " " + request.body;
  respond(response);
}

inline HttpRequest request_of(const std::string& method, const std::string& url,
                              const std::string& body = "") {
  return HttpRequest{method, url, {}, body};
}

enum class PeerEnd { kOpen, kFin, kReset };

// A client socket that says exactly what it is told to.
class RawClient {
 public:
  explicit RawClient(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  explicit RawClient(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  bool connected() const { return connected_; }
  int fd() const { return fd_.get(); }
  // False if the peer has gone.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(count));
    }
    return true;
  }
  void finish() { ::shutdown(fd_.get(), SHUT_WR); }
  void close() { fd_.reset(); }
  // Reads until the peer ends the connection, or `until` is in it, or the time is over.
  std::string read(const std::string& until = "", int timeout_ms = 10'000) {
    const auto begin = std::chrono::steady_clock::now();
    while (end_ == PeerEnd::kOpen && (until.empty() || seen_.find(until) == std::string::npos)) {
      const int64_t left = timeout_ms - elapsed_ms(begin);
      pollfd ready{fd_.get(), POLLIN, 0};
      if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) <= 0) break;
      char buffer[65536];
      const ssize_t count = ::recv(fd_.get(), buffer, sizeof(buffer), 0);
      if (count > 0) {
        seen_.append(buffer, static_cast<size_t>(count));
      } else {
        end_ = count == 0 ? PeerEnd::kFin : PeerEnd::kReset;
      }
    }
    return std::exchange(seen_, {});
  }
  PeerEnd end() const { return end_; }

 private:
  FileDescriptor fd_;
  bool connected_ = false;
  std::string seen_;
  PeerEnd end_ = PeerEnd::kOpen;
};

inline std::string status_line(const std::string& answer) {
  return answer.substr(0, answer.find("\r\n"));
}

// A leaf with its key, issued by a root of its own.
struct TestLeaf {
  std::string chain_pem, private_key_pem, sha256;
  std::vector<std::string> chain_der;
};
inline TestLeaf make_leaf(const std::string& name) {
  SystemClock clock;
  const Validity validity{clock.now_ms() - 60'000, clock.now_ms() + 3'600'000};
  const CaKey root = issue_root("example.net", validity).value();
  const CaKey issuing = issue_issuing_ca(root, "example.net", validity).value();
  const KeyPair key = generate_key();
  LeafRequest request;
  request.identity.kind = IdentityKind::kCoordinator;
  request.identity.domain = "example.net";
  request.identity.name = name;
  request.csr_pem = make_csr(key.private_key_pem).value();
  request.validity = validity;
  request.ip_addresses = {"127.0.0.1"};
  TestLeaf leaf;
  leaf.chain_pem = issue_leaf(issuing, request).value();
  leaf.private_key_pem = key.private_key_pem;
  leaf.chain_der = pem_to_der(leaf.chain_pem).value();
  leaf.sha256 = sha256_hex(leaf.chain_der.front());
  return leaf;
}

}  // namespace leasehold::test
