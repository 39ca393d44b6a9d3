#include <atomic>
#include <set>

#include "core/curl/http_client.h"
#include "tests/unit/core/loop/support.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

// A CurlMulti on a LoopThread; destroyed on the loop.
class ClientUnderTest {
 public:
  explicit ClientUnderTest(LoopThread& thread) : thread_(thread) {
    thread_.on_loop([&] { client_ = std::make_unique<CurlMulti>(thread_.loop()); });
  }
  ~ClientUnderTest() { destroy(); }
  void destroy() {
    thread_.on_loop([&] { client_.reset(); });
  }
  CurlMulti& client() { return *client_; }

 private:
  LoopThread& thread_;
  std::unique_ptr<CurlMulti> client_;
};

}  // namespace

TEST_CASE("multi: twenty threads have a hundred requests open at once, each gets its own answer") {
  LoopThread thread;
  const TestLeaf leaf = make_leaf("server");
  HttpServerOptions options = on_any_port();
  SECTION("plain") {}
  SECTION("TLS") {
    options.tls = true;
    options.tls_config.certificate_chain_pem = leaf.chain_pem;
    options.tls_config.private_key_pem = leaf.private_key_pem;
  }
  size_t most_open = 0;
  std::vector<std::pair<Responder, std::string>> open;
  ServerUnderTest server(thread, options, [&](const ServerRequest& request, Responder r) {
    open.emplace_back(std::move(r), request.path);
    most_open = std::max(most_open, open.size());
    if (open.size() < 20) return;  // answered only once all twenty threads wait
    for (auto& [respond, path] : std::exchange(open, {})) respond(HttpResponse{200, {}, path});
  });
  ClientUnderTest tested(thread);
  HttpOptions http;
  http.tls.judge = pin_judge(leaf.sha256);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 20; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; i++) {
        const std::string path = "/" + std::to_string(t) + "/" + std::to_string(i);
        const std::string url = options.tls ? server.tls_url(path) : server.url(path);
        auto answer = tested.client().send({"GET", url, {}, ""}, http);
        if (answer.ok() && answer.value().body == path) right++;
      }
    });
  }
  for (auto& each : threads) each.join();
  CHECK(right == 100);
  CHECK(most_open == 20);
}

TEST_CASE("multi: a callback comes later, on the loop, once, and may start the next call") {
  LoopThread thread;
  ServerUnderTest server(thread, on_any_port(), echo);
  ClientUnderTest tested(thread);
  std::atomic<int> called{0};
  std::string bodies;
  bool at_once = false;
  std::thread::id loop_id;
  thread.on_loop([&] {
    loop_id = std::this_thread::get_id();
    tested.client().start({"GET", server.url("/1"), {}, ""}, {}, [&](Result<HttpResponse> first) {
      called++;
      bodies += first.ok() ? first.value().body : "error";
      tested.client().start({"GET", "file:///", {}, ""}, {}, [&](Result<HttpResponse> second) {
        CHECK(std::this_thread::get_id() == loop_id);
        bodies += second.ok() ? "?" : std::string(code_name(second.error().code));
        called++;
      });
    });
    // One that is refused before libcurl sees it comes later, too.
    tested.client().start({"", server.url("/"), {}, ""}, {}, [&](Result<HttpResponse> bad) {
      CHECK_FALSE(bad.ok());
      called++;
    });
    at_once = called != 0;
  });
  CHECK(eventually([&] { return called == 3; }));
  CHECK_FALSE(at_once);
  CHECK(bodies == "GET /1  INVALID_INPUT");
}

TEST_CASE("multi: destruction answers open calls: TIMEOUT for what was sent, else UNAVAILABLE") {
  LoopThread thread;
  std::atomic<int> asked{0};
  ServerUnderTest server(thread, on_any_port(), [&](const ServerRequest&, Responder) { asked++; });
  FileDescriptor silent(::socket(AF_INET, SOCK_STREAM, 0));  // accepts, and never shakes hands
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  REQUIRE(::bind(silent.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
  REQUIRE(::listen(silent.get(), 8) == 0);
  ::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&address), &length);
  const std::string unsent_url = "https://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  ClientUnderTest tested(thread);
  Code sent = Code::kInternal, unsent = Code::kInternal, started = Code::kInternal;
  std::thread first([&] {
    sent = tested.client().send({"POST", server.url("/"), {}, "x"}, {}).error().code;
  });
  std::thread second([&] {
    unsent = tested.client().send({"GET", unsent_url, {}, ""}, {}).error().code;
  });
  thread.on_loop([&] {
    tested.client().start({"GET", unsent_url, {}, ""}, {},
                          [&](Result<HttpResponse> result) { started = result.error().code; });
  });
  REQUIRE(eventually([&] { return asked == 1; }));
  FileDescriptor one(::accept(silent.get(), nullptr, nullptr));
  FileDescriptor two(::accept(silent.get(), nullptr, nullptr));
  tested.destroy();
  first.join();
  second.join();
  CHECK(sent == Code::kTimeout);
  CHECK(unsent == Code::kUnavailable);
  CHECK(started == Code::kUnavailable);
}

TEST_CASE("multi: shut down after the loop has ended, no thread is left waiting") {
  LoopThread thread;
  auto client = std::make_unique<CurlMulti>(thread.loop());
  thread.stop();
  Code code = Code::kInternal;
  std::atomic<bool> begun{false};
  std::thread waiting([&] {
    begun = true;
    code = client->send({"GET", "http://127.0.0.1:1/", {}, ""}, {}).error().code;
  });
  REQUIRE(eventually([&] { return begun.load(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // either order gives UNAVAILABLE
  client->shut_down();
  waiting.join();
  CHECK(code == Code::kUnavailable);
  auto later = client->send({"GET", "http://127.0.0.1:1/", {}, ""}, {});
  REQUIRE_FALSE(later.ok());
  CHECK(later.error().code == Code::kUnavailable);
}

TEST_CASE("multi: a loop that stands still does not hold a thread for ever") {
  LoopThread thread;
  auto client = std::make_unique<CurlMulti>(thread.loop());
  thread.stop();
  HttpOptions options;
  options.timeout_ms = 50 - limits::kHttpLoopGraceMs;  // 50 ms with the grace
  auto answer = client->send({"GET", "http://127.0.0.1:1/", {}, ""}, options);
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().code == Code::kUnavailable);  // the loop never took it
  client.reset();
}

TEST_CASE(
    "multi: connections are kept for repeatable requests only, plain or with a key, if asked") {
  LoopThread thread;
  const TestLeaf leaf = make_leaf("server");
  HttpServerOptions options = on_any_port();
  HttpOptions http;
  http.tls.judge = pin_judge(leaf.sha256);
  std::string method = "GET";
  size_t expected = 3;
  SECTION("kept") {
    http.fresh_connection = false;
    expected = 1;
  }
  SECTION("fresh") {}
  SECTION("POST") {
    http.fresh_connection = false;
    method = "POST";
  }
  SECTION("TLS") {
    http.fresh_connection = false;
    options.tls = true;
    SECTION("whose connections have no key") {}
    SECTION("whose connections have a key") {
      http.tls.connection_key = leaf.sha256;
      expected = 1;
    }
    SECTION("whose connections have a key, POST") {
      http.tls.connection_key = leaf.sha256;
      method = "POST";
    }
    options.tls_config.certificate_chain_pem = leaf.chain_pem;
    options.tls_config.private_key_pem = leaf.private_key_pem;
  }
  std::set<uint64_t> connections;
  ServerUnderTest server(thread, options, [&](const ServerRequest& request, Responder r) {
    connections.insert(request.connection);
    r(HttpResponse{200, {}, ""});
  });
  ClientUnderTest tested(thread);
  const std::string url = options.tls ? server.tls_url("/") : server.url("/");
  for (int i = 0; i < 3; i++) REQUIRE(tested.client().send({method, url, {}, ""}, http).ok());
  CHECK(connections.size() == expected);
}

TEST_CASE(
    "T8 multi: a kept connection that is reset is told, and what has an effect never meets one") {
  LoopThread thread;
  std::set<uint64_t> connections;
  int resets = 0;
  ServerUnderTest* peer = nullptr;
  ServerUnderTest server(thread, on_any_port(), [&](const ServerRequest& request, Responder r) {
    if (connections.insert(request.connection).second) return r(HttpResponse{200, {}, ""});
    ++resets;
    peer->server().abort(request.connection, true);
  });
  peer = &server;
  ClientUnderTest tested(thread);
  HttpOptions http;
  http.fresh_connection = false;
  REQUIRE(tested.client().send({"GET", server.url("/"), {}, ""}, http).ok());
  auto second = tested.client().send({"GET", server.url("/"), {}, ""}, http);
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().code == Code::kMalformed);
  CHECK(resets == 1);
  http.fresh_connection = true;
  REQUIRE(tested.client().send({"GET", server.url("/"), {}, ""}, http).ok());
  http.fresh_connection = false;
  CHECK(connections.size() == 2);
  // What has an effect never meets a kept connection, so nothing can be sent twice.
  REQUIRE(tested.client().send({"POST", server.url("/"), {}, ""}, http).ok());
  CHECK(resets == 1);
  CHECK(connections.size() == 3);
}

TEST_CASE("multi: another judge is asked again, though the server was judged before") {
  LoopThread thread;
  const TestLeaf leaf = make_leaf("server"), other = make_leaf("other");
  HttpServerOptions options = on_any_port();
  options.tls = true;
  options.tls_config.certificate_chain_pem = leaf.chain_pem;
  options.tls_config.private_key_pem = leaf.private_key_pem;
  ServerUnderTest server(thread, options, echo);
  ClientUnderTest tested(thread);
  HttpOptions http;
  http.fresh_connection = false;
  http.tls.judge = pin_judge(leaf.sha256);
  const bool keyed = GENERATE(false, true);
  if (keyed) http.tls.connection_key = leaf.sha256;
  REQUIRE(tested.client().send({"GET", server.tls_url("/"), {}, ""}, http).ok());
  http.tls.judge = pin_judge(other.sha256);
  if (keyed) http.tls.connection_key = other.sha256;
  auto refused = tested.client().send({"GET", server.tls_url("/"), {}, ""}, http);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Code::kUnavailable);
}

TEST_CASE("multi: a host that the certificate does not name is refused, whatever the judge says") {
  LoopThread thread;
  const TestLeaf leaf = make_leaf("server");  // for 127.0.0.1
  HttpServerOptions options = on_any_port();
  options.tls = true;
  options.tls_config.certificate_chain_pem = leaf.chain_pem;
  options.tls_config.private_key_pem = leaf.private_key_pem;
  ServerUnderTest server(thread, options, echo);
  ClientUnderTest tested(thread);
  HttpOptions http;
  http.tls.judge = pin_judge(leaf.sha256);
  http.connect_to = "127.0.0.1:" + std::to_string(server.port());
  CHECK(tested.client().send({"GET", "https://127.0.0.1/", {}, ""}, http).ok());
  const HttpRequest other = {"GET", "https://other.example.net/", {}, ""};
  auto refused = tested.client().send(other, http);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Code::kUnavailable);
  http.tls.host_check = HostCheck::kByPin;
  CHECK(tested.client().send(other, http).ok());
}
