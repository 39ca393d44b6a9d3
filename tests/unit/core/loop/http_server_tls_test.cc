#include <atomic>

#include "core/curl/http_client.h"
#include "core/loop/http_server.h"
#include "tests/unit/core/loop/support.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

HttpServerOptions tls_on_any_port(const TestLeaf& leaf) {
  HttpServerOptions options = on_any_port();
  options.tls = true;
  options.tls_config.certificate_chain_pem = leaf.chain_pem;
  options.tls_config.private_key_pem = leaf.private_key_pem;
  options.tls_config.ask_client_certificate = true;
  return options;
}

HttpOptions pinned(const TestLeaf& leaf) {
  HttpOptions options;
  options.tls.judge = pin_judge(leaf.sha256);
  return options;
}

}  // namespace

TEST_CASE("TLS: the client's chain reaches the handler, its absence too") {
  LoopThread thread;
  const TestLeaf server_leaf = make_leaf("server"), client_leaf = make_leaf("client");
  std::vector<std::string> chain;
  ServerUnderTest tested(thread, tls_on_any_port(server_leaf),
                         [&](const ServerRequest& request, Responder r) {
                           chain = request.peer_chain_der;
                           echo(request, r);
                         });
  REQUIRE(tested.started.ok());
  CurlEasyClient client;
  HttpOptions options = pinned(server_leaf);
  auto bare = client.send(request_of("GET", tested.tls_url("/bare")), options);
  REQUIRE(bare.ok());
  CHECK(bare.value().body == "GET /bare  ");
  CHECK(chain.empty());
  options.tls.certificate_chain_pem = client_leaf.chain_pem;
  options.tls.private_key_pem = client_leaf.private_key_pem;
  auto known = client.send(request_of("POST", tested.tls_url("/known"), "b"), options);
  REQUIRE(known.ok());
  CHECK(known.value().body == "POST /known  b");
  CHECK(chain == client_leaf.chain_der);
}

TEST_CASE("TLS: bodies of a megabyte go both ways") {
  LoopThread thread;
  const TestLeaf leaf = make_leaf("server");
  ServerUnderTest tested(thread, tls_on_any_port(leaf), [](const ServerRequest& q, Responder r) {
    r(HttpResponse{200, {}, q.body});
  });
  CurlEasyClient client;
  std::string body(limits::kHttpBodyBytes, 'a');
  for (size_t i = 0; i < body.size(); i += 7) body[i] = static_cast<char>(i);
  auto answer = client.send(request_of("PUT", tested.tls_url("/"), body), pinned(leaf));
  REQUIRE(answer.ok());
  CHECK(answer.value().body == body);
}

TEST_CASE("TLS: a server that the judge refuses gets no request") {
  LoopThread thread;
  const TestLeaf leaf = make_leaf("server"), other = make_leaf("other");
  std::atomic<int> handled{0};
  ServerUnderTest tested(thread, tls_on_any_port(leaf),
                         [&](const ServerRequest&, Responder) { handled++; });
  CurlEasyClient client;
  auto refused = client.send(request_of("GET", tested.tls_url("/")), pinned(other));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Code::kUnavailable);
  CHECK(refused.error().message ==
        "TLS was refused: the server's certificate is not the pinned one");
  auto unjudged = client.send(request_of("GET", tested.tls_url("/")), {});
  REQUIRE_FALSE(unjudged.ok());
  CHECK(unjudged.error().code == Code::kUnavailable);
  CHECK(handled == 0);
}

TEST_CASE("TLS: who is silent, says nonsense or speaks plain HTTP is closed") {
  LoopThread thread;
  const TestLeaf leaf = make_leaf("server");
  HttpServerOptions options = tls_on_any_port(leaf);
  options.idle_ms = 150;
  std::atomic<int> handled{0};
  ServerUnderTest tested(thread, options, [&](const ServerRequest&, Responder) { handled++; });
  for (const std::string bytes : {"", "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "\x16\x03\x01\x02"}) {
    RawClient raw(tested.port());
    raw.send(bytes);
    raw.read("", 3000);
    CHECK(raw.end() != PeerEnd::kOpen);
  }
  CHECK(handled == 0);
  CHECK(eventually([&] { return tested.closed == 3; }));
}

TEST_CASE("TLS: a certificate that does not fit its key does not start") {
  LoopThread thread;
  HttpServerOptions options = tls_on_any_port(make_leaf("server"));
  options.tls_config.private_key_pem = generate_key().private_key_pem;
  ServerUnderTest tested(thread, options, echo);
  REQUIRE_FALSE(tested.started.ok());
  CHECK(tested.started.error().code == Code::kConfig);
}

TEST_CASE("TLS: a long poll is answered later, and a peer that has gone is noticed") {
  LoopThread thread;
  const TestLeaf leaf = make_leaf("server");
  HttpServerOptions options = tls_on_any_port(leaf);
  options.idle_ms = 200;
  std::vector<Responder> waiting;
  std::atomic<int> asked{0};
  ServerUnderTest tested(thread, options, [&](const ServerRequest&, Responder r) {
    waiting.push_back(std::move(r));
    asked++;
  });
  HttpOptions http = pinned(leaf);
  std::thread answerer([&] {
    eventually([&] { return asked == 1; });
    std::this_thread::sleep_for(std::chrono::milliseconds(400));  // longer than idle_ms
    thread.on_loop([&] { waiting[0](HttpResponse{200, {}, "later"}); });
  });
  CurlEasyClient client;
  auto answer = client.send(request_of("GET", tested.tls_url("/")), http);
  answerer.join();
  REQUIRE(answer.ok());
  CHECK(answer.value().body == "later");
  REQUIRE(eventually([&] { return tested.closed == 1; }));
  http.timeout_ms = 200;
  auto given_up = client.send(request_of("GET", tested.tls_url("/")), http);
  REQUIRE_FALSE(given_up.ok());
  CHECK(given_up.error().code == Code::kTimeout);
  CHECK(eventually([&] { return tested.closed == 2; }));
  thread.on_loop([&] { waiting[1](HttpResponse{200, {}, "to nobody"}); });
}

TEST_CASE("TLS: a server takes another certificate for the connections that come next") {
  LoopThread thread;
  const TestLeaf first = make_leaf("server"), second = make_leaf("server");
  ServerUnderTest tested(thread, tls_on_any_port(first), echo);
  CurlEasyClient client;
  CHECK(client.send(request_of("GET", tested.tls_url("/")), pinned(first)).ok());
  Status mixed, taken;
  thread.on_loop([&] {
    TlsServerConfig next = tls_on_any_port(second).tls_config;
    next.private_key_pem = first.private_key_pem;
    mixed = tested.server().use_tls(next);
    taken = tested.server().use_tls(tls_on_any_port(second).tls_config);
  });
  CHECK_FALSE(mixed.ok());
  CHECK(taken.ok());
  CHECK_FALSE(client.send(request_of("GET", tested.tls_url("/")), pinned(first)).ok());
  CHECK(client.send(request_of("GET", tested.tls_url("/")), pinned(second)).ok());
}
