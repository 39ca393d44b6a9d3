#include "core/curl/http_client.h"

#include <atomic>

#include "core/base/bytes.h"
#include "tests/unit/core/loop/support.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

// A socket that takes one connection after another, reads `reads` bytes of each request and says
// `answer`, whatever was asked; then ends the connection.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::string answer, bool reset = false)
      : answer_(std::move(answer)), reset_(reset), fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    REQUIRE(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(::listen(fd_.get(), 8) == 0);
    ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedServer() {
    ::shutdown(fd_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }
  std::atomic<int> requests{0};
  std::string last_request;

 private:
  void serve() {
    while (true) {
      FileDescriptor peer(::accept(fd_.get(), nullptr, nullptr));
      if (!peer.valid()) return;
      char buffer[65536];
      const ssize_t count = ::recv(peer.get(), buffer, sizeof(buffer), 0);
      if (count <= 0) continue;
      last_request.assign(buffer, static_cast<size_t>(count));
      requests++;
      ::send(peer.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
      if (!reset_) continue;
      const linger at_once{1, 0};
      ::setsockopt(peer.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    }
  }
  std::string answer_;
  bool reset_;
  FileDescriptor fd_;
  uint16_t port_ = 0;
  std::thread thread_;
};

uint16_t dead_port() {  // nobody listens there
  FileDescriptor fd(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length);
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.sin_port);
}

// Both clients, one behind the other's interface: every case runs with each.
class EachClient {
 public:
  explicit EachClient(bool multi) : multi_(multi) {
    if (multi_)
      thread_.on_loop([&] { loop_client_ = std::make_unique<CurlMulti>(thread_.loop()); });
  }
  ~EachClient() {
    thread_.on_loop([&] { loop_client_.reset(); });
  }
  Result<HttpResponse> send(const HttpRequest& request, const HttpOptions& options = {}) {
    if (multi_) return loop_client_->send(request, options);
    return easy_.send(request, options);
  }

 private:
  bool multi_;
  LoopThread thread_;
  CurlEasyClient easy_;
  std::unique_ptr<CurlMulti> loop_client_;
};

}  // namespace

TEST_CASE("clients: what is sent is what was asked for, and nothing that libcurl adds by itself") {
  EachClient client(GENERATE(false, true));
  ScriptedServer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  HttpRequest request{"PATCH", server.url() + "a?b=c", {{"X-One", "1"}, {"X-Empty", ""}}, "{}"};
  REQUIRE(client.send(request).ok());
  const std::string sent = server.last_request;
  CHECK(sent.find("PATCH /a?b=c HTTP/1.1\r\n") == 0);
  CHECK(sent.find("X-One: 1\r\n") != std::string::npos);
  CHECK(sent.find("X-Empty:\r\n") != std::string::npos);
  CHECK(sent.find("Accept-Encoding: identity\r\n") != std::string::npos);
  CHECK(sent.find("Content-Length: 2\r\n") != std::string::npos);
  CHECK(sent.find("Expect") == std::string::npos);
  CHECK(sent.find("Content-Type") == std::string::npos);
  CHECK(sent.substr(sent.size() - 6) == "\r\n\r\n{}");
  REQUIRE(client.send({"DELETE", server.url(), {}, ""}).ok());
  CHECK(server.last_request.find("DELETE / HTTP/1.1\r\n") == 0);
  REQUIRE(client.send({"POST", server.url(), {{"Content-Type", "a/b"}}, ""}).ok());
  CHECK(server.last_request.find("Content-Length: 0\r\n") != std::string::npos);
  CHECK(server.last_request.find("Content-Type: a/b\r\n") != std::string::npos);
}

TEST_CASE("clients: the last block of headers counts, redirects and error statuses are answers") {
  EachClient client(GENERATE(false, true));
  ScriptedServer server(
      "HTTP/1.1 103 Early Hints\r\nLink: early\r\n\r\n"
      "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nX-A:  spaced \r\nX-A: 2\r\n"
      "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Trailer: t\r\n\r\n");
  auto answer = client.send({"GET", server.url(), {}, ""});
  REQUIRE(answer.ok());
  CHECK(answer.value().status == 302);
  CHECK(answer.value().body == "abc");
  CHECK(header_value(answer.value().headers, "Link") == "");
  CHECK(header_value(answer.value().headers, "x-a") == "spaced");
  CHECK(header_value(answer.value().headers, "X-Trailer") == "");
  CHECK(answer.value().headers.size() == 4);
  ScriptedServer failing("HTTP/1.1 503 No\r\nContent-Length: 4\r\n\r\nbusy");
  auto failed = client.send({"GET", failing.url(), {}, ""});
  REQUIRE(failed.ok());
  CHECK(failed.value().status == 503);
  CHECK(failed.value().body == "busy");
}

TEST_CASE("clients: nothing was sent is UNAVAILABLE and says why") {
  EachClient client(GENERATE(false, true));
  HttpOptions options;
  options.connect_timeout_ms = 300;
  const std::string port = std::to_string(dead_port());
  auto refused = client.send({"POST", "http://127.0.0.1:" + port + "/", {}, "x"}, options);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Code::kUnavailable);
  CHECK(refused.error().message.find("127.0.0.1") != std::string::npos);
  auto unknown = client.send({"GET", "http://nobody.invalid/", {}, ""}, options);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == Code::kUnavailable);
  options.unix_socket_path = "/nonexistent/socket";
  auto unix_socket = client.send({"GET", "http://agent/", {}, ""}, options);
  REQUIRE_FALSE(unix_socket.ok());
  CHECK(unix_socket.error().code == Code::kUnavailable);
}

TEST_CASE("clients: a peer that accepts and never shakes hands is UNAVAILABLE in time") {
  EachClient client(GENERATE(false, true));
  FileDescriptor silent(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  REQUIRE(::bind(silent.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
  REQUIRE(::listen(silent.get(), 8) == 0);
  ::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&address), &length);
  HttpOptions options;
  options.connect_timeout_ms = 150;
  options.tls.judge = pin_judge("00");
  const auto begin = std::chrono::steady_clock::now();
  const std::string port = std::to_string(ntohs(address.sin_port));
  auto answer = client.send({"GET", "https://127.0.0.1:" + port + "/", {}, ""}, options);
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().code == Code::kUnavailable);
  CHECK(elapsed_ms(begin) < 3000);
}

TEST_CASE("clients: once something was sent, the error says that it may have had its effect") {
  EachClient client(GENERATE(false, true));
  HttpOptions options;
  options.timeout_ms = 200;
  struct Case {
    std::string answer;
    bool reset;
  };
  for (const Case& c : {Case{"", false}, Case{"", true}, Case{"nonsense\r\n\r\n", false},
                        Case{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", false},
                        Case{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", false},
                        Case{"HTTP/1.1 200 OK\r\nContent-", true}}) {
    ScriptedServer server(c.answer, c.reset);
    auto answer = client.send({"POST", server.url(), {}, "x"});
    INFO(c.answer);
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().code == Code::kMalformed);
    CHECK(server.requests == 1);  // and it was not sent twice
  }
  LoopThread thread;
  ServerUnderTest hanging(thread, on_any_port(), [](const ServerRequest&, Responder) {});
  auto answer = client.send({"POST", hanging.url("/"), {}, "x"}, options);
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().code == Code::kTimeout);
}

TEST_CASE("clients: an answer over its bound is TOO_LARGE while it comes in") {
  EachClient client(GENERATE(false, true));
  LoopThread thread;
  ServerUnderTest server(thread, on_any_port(), [](const ServerRequest& request, Responder r) {
    HttpResponse response{200, {}, std::string(1000, 'x')};
    if (request.path == "/head") response.headers.assign(40, {"A", std::string(2000, 'x')});
    r(response);
  });
  HttpOptions options;
  options.max_body_bytes = 1000;
  REQUIRE(client.send({"GET", server.url("/"), {}, ""}, options).ok());
  options.max_body_bytes = 999;
  auto large = client.send({"GET", server.url("/"), {}, ""}, options);
  REQUIRE_FALSE(large.ok());
  CHECK(large.error().code == Code::kTooLarge);
  CHECK(large.error().message.find("999") != std::string::npos);
  options.max_body_bytes = 1000;
  auto head = client.send({"GET", server.url("/head"), {}, ""}, options);
  REQUIRE_FALSE(head.ok());
  CHECK(head.error().code == Code::kTooLarge);
  auto only_head = client.send({"HEAD", server.url("/"), {}, ""}, options);
  REQUIRE(only_head.ok());
  CHECK(header_value(only_head.value().headers, "Content-Length") == "1000");
  CHECK(only_head.value().body == "");
}

TEST_CASE("clients: connect_to, other protocols, proxies and line breaks") {
  EachClient client(GENERATE(false, true));
  LoopThread thread;
  std::string host;
  ServerUnderTest server(thread, on_any_port(), [&](const ServerRequest& request, Responder r) {
    host = header_value(request.headers, "Host");
    echo(request, r);
  });
  HttpOptions options;
  options.connect_to = "127.0.0.1:" + std::to_string(server.port());
  ::setenv("http_proxy", "http://127.0.0.1:1/", 1);
  auto answer = client.send({"GET", "http://bmc.example:8443/x", {}, ""}, options);
  ::unsetenv("http_proxy");
  REQUIRE(answer.ok());
  CHECK(host == "bmc.example:8443");
  const std::vector<HttpRequest> bad = {{"GET", "file:///etc/passwd", {}, ""},
                                        {"GET", "ftp://127.0.0.1/", {}, ""},
                                        {"GET", "http://user:secret@127.0.0.1/", {}, ""},
                                        {"GET", server.url("/\r\nX: y"), {}, ""},
                                        {"GET", server.url("/"), {{"A", "b\r\nC: d"}}, ""},
                                        {"GET", server.url("/"), {{"A\r\nC", "d"}}, ""},
                                        {"GET", server.url("/"), {{"", "d"}}, ""},
                                        {"GE T", server.url("/"), {}, ""},
                                        {"", server.url("/"), {}, ""}};
  for (const HttpRequest& request : bad) {
    INFO(request.method + " " + request.url);
    auto refused = client.send(request);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == Code::kInvalidInput);
    CHECK(refused.error().message.find("secret") == std::string::npos);
  }
}

TEST_CASE("clients: a compressed answer is unpacked for who asked for it, and bounded unpacked") {
  EachClient client(GENERATE(false, true));
  // gzip of 4000 times "a".
  const std::string gzip =
      hex_decode("1f8b0800000000000203edc13101000000c2a0aceb5fc2183e40010000006f03ebbe8578a00f0000")
          .value_or("");
  ScriptedServer server("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " +
                        std::to_string(gzip.size()) + "\r\n\r\n" + gzip);
  auto packed = client.send({"GET", server.url(), {}, ""});
  REQUIRE(packed.ok());
  CHECK(packed.value().body == gzip);
  HttpRequest asked{"GET", server.url(), {{"Accept-Encoding", "gzip"}}, ""};
  auto unpacked = client.send(asked);
  REQUIRE(unpacked.ok());
  CHECK(unpacked.value().body == std::string(4000, 'a'));
  CHECK(server.last_request.find("Accept-Encoding: gzip\r\n") != std::string::npos);
  HttpOptions small;
  small.max_body_bytes = 3999;
  CHECK(client.send(asked, small).error().code == Code::kTooLarge);
}
