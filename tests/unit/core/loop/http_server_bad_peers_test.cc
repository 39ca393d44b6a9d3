#include "core/loop/http_server.h"

#include <atomic>

#include "core/base/json.h"
#include "core/curl/http_client.h"
#include "core/loop/http_parser.h"
#include "tests/unit/core/loop/support.h"

using namespace leasehold;
using namespace leasehold::test;

TEST_CASE("pipelined bytes are bounded: the peer has to wait") {
  LoopThread thread;
  std::vector<Responder> waiting;
  HttpServerOptions options = on_any_port();
  options.max_body_bytes = 1024;
  ServerUnderTest tested(
      thread, options, [&](const ServerRequest&, Responder r) { waiting.push_back(std::move(r)); });
  RawClient raw(tested.port());
  const int small = 4096;
  ::setsockopt(raw.fd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
  REQUIRE(raw.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n"));
  const std::string block(65536, 'x');
  size_t taken = 0;
  while (taken < (64 << 20)) {
    pollfd ready{raw.fd(), POLLOUT, 0};
    if (::poll(&ready, 1, 200) <= 0) break;
    const ssize_t count = ::send(raw.fd(), block.data(), block.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) taken += static_cast<size_t>(count);
  }
  CHECK(taken < (32 << 20));  // the kernel's buffers and a little more
}

TEST_CASE("every bad request is refused with its status and the connection's end") {
  const std::string host = "Host: h\r\n";
  const std::string big(20'000, 'x');
  std::string many;
  for (int i = 0; i < 200; i++) many += "H" + std::to_string(i) + ": 1\r\n";
  struct Bad {
    std::string bytes, status;
  };
  const std::vector<Bad> table = {
      {"\x16\x03\x01\x02\x01hello\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\n\r\n", "400"},                                 // no Host
      {"GET / HTTP/1.1\r\n" + host + host + "\r\n", "400"},              // two
      {"GET / HTTP/1.1\r\nHost : h\r\n\r\n", "400"},                     // space before colon
      {"GET / HTTP/1.1\r\n" + host + "A: b\r\n folded\r\n\r\n", "400"},  // obs-fold
      {"GET / HTTP/1.1\r\n" + host + "A: b\nC: d\r\n\r\n", "400"},       // bare LF
      {"GET / HTTP/1.1\r\n" + host + "A: b\rC: d\r\n\r\n", "400"},       // bare CR
      {"GET / HTTP/1.1\r\n" + host + std::string("A: b\0c\r\n\r\n", 10), "400"},
      {"GET / HTTP/1.1\r\n" + host + "A: b\x01\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\n" + host + ": b\r\n\r\n", "400"},  // no name
      {"GET /\x01 HTTP/1.1\r\n" + host + "\r\n", "400"},
      {"GET  HTTP/1.1\r\n" + host + "\r\n", "400"},  // no target
      {"NONSENSE / HTTP/1.1\r\n" + host + "\r\n", "400"},
      {"get / HTTP/1.1\r\n" + host + "\r\n", "400"},
      {"GET http://h/ HTTP/1.1\r\n" + host + "\r\n", "400"},  // absolute form
      {"OPTIONS * HTTP/1.1\r\n" + host + "\r\n", "400"},
      {"CONNECT h:443 HTTP/1.1\r\n" + host + "\r\n", "405"},
      {"GET /%zz HTTP/1.1\r\n" + host + "\r\n", "400"},
      {"GET /%2 HTTP/1.1\r\n" + host + "\r\n", "400"},
      {"GET /%00 HTTP/1.1\r\n" + host + "\r\n", "400"},
      {"GET /a%0d%0aB: HTTP/1.1\r\n" + host + "\r\n", "400"},
      {"GET /a%2fb HTTP/1.1\r\n" + host + "\r\n", "400"},
      {"GET /a/../b HTTP/1.1\r\n" + host + "\r\n", "400"},
      {"GET /a/%2e%2e HTTP/1.1\r\n" + host + "\r\n", "400"},
      {"GET /a#b HTTP/1.1\r\n" + host + "\r\n", "400"},
      {"GET / HTTP/2.0\r\n" + host + "\r\n", "505"},
      {"GET / HTTP/0.9\r\n\r\n", "505"},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx", "400"},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n", "400"},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1x\r\n\r\nx", "400"},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 99999999999999999999\r\n\r\n", "400"},
      {"POST / HTTP/1.1\r\n" + host +
           "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "400"},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", "501"},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "501"},
      {"POST / HTTP/1.1\r\n" + host +
           "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "400"},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "400"},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "400"},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n",
       "400"},
      {"POST / HTTP/1.1\r\n" + host + "Expect: tea\r\nContent-Length: 1\r\n\r\nx", "417"},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 101\r\n\r\n", "413"},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n65\r\n" +
           std::string(101, 'x') + "\r\n0\r\n\r\n",
       "413"},
      {"GET /" + big + " HTTP/1.1\r\n" + host + "\r\n", "431"},
      {"GET / HTTP/1.1\r\n" + host + "A: " + big + "\r\n\r\n", "431"},
      {"GET / HTTP/1.1\r\n" + host + big + ": a\r\n\r\n", "431"},
      {"GET / HTTP/1.1\r\n" + host + "A: " + std::string(20'000, ' '), "431"},
      {"GET / HTTP/1.1\r\n" + host + many + "\r\n", "431"},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\nT: " + big +
           "\r\n\r\n",
       "431"},
  };
  LoopThread thread;
  HttpServerOptions options = on_any_port();
  options.max_body_bytes = 100;
  std::atomic<int> handled{0};
  ServerUnderTest tested(thread, options, [&](const ServerRequest& request, Responder r) {
    handled++;
    echo(request, r);
  });
  for (const Bad& bad : table) {
    // However the bytes are cut, the verdict is the same.
    HttpParser parser(options.max_body_bytes, false);
    for (size_t i = 0; i < bad.bytes.size() && parser.refused_status() == 0; i++) {
      size_t consumed = 0;
      parser.feed(std::string_view(bad.bytes).substr(i, 1), &consumed);
    }
    CHECK(std::to_string(parser.refused_status()) == bad.status);
    RawClient raw(tested.port());
    INFO(bad.bytes.substr(0, 120));
    raw.send(bad.bytes);
    const std::string answer = raw.read("", 3000);
    CHECK(answer.substr(0, 13) == "HTTP/1.1 " + bad.status + " ");
    CHECK(answer.find("Connection: close\r\n") != std::string::npos);
    CHECK(answer.find("\"code\"") != std::string::npos);
    CHECK(raw.end() == PeerEnd::kFin);
  }
  CHECK(handled == 0);
}

TEST_CASE("a body over the bound is refused before it is sent, and the sender reads why") {
  LoopThread thread;
  ServerUnderTest tested(thread, on_any_port(), echo);
  CurlEasyClient client;
  auto answer = client.send(request_of("POST", tested.url("/"), std::string(8 << 20, 'x')), {});
  REQUIRE(answer.ok());
  CHECK(answer.value().status == 413);
  CHECK(parse_json(answer.value().body).value()["code"] == "TOO_LARGE");
}

TEST_CASE("slow peers: silence is closed, half a request is told, waiting for us is neither") {
  LoopThread thread;
  HttpServerOptions options = on_any_port();
  options.idle_ms = 150;
  Responder waiting;
  ServerUnderTest tested(thread, options, [&](const ServerRequest& request, Responder r) {
    if (request.path == "/wait") {
      waiting = std::move(r);
    } else {
      echo(request, r);
    }
  });
  RawClient silent(tested.port()), half(tested.port()), dripping(tested.port());
  RawClient kept(tested.port()), polling(tested.port());
  REQUIRE(half.send("GET / HTTP/1.1\r\nHos"));
  REQUIRE(kept.send("GET /k HTTP/1.1\r\nHost: h\r\n\r\n"));
  REQUIRE(polling.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n"));
  CHECK(kept.read("GET /k").find("HTTP/1.1 200 OK") == 0);
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(dripping.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n"));
  while (elapsed_ms(begin) < 2000 && dripping.send("x")) {  // a byte at a time changes nothing
    if (dripping.read("", 10) != "") break;
  }
  CHECK(elapsed_ms(begin) < 1500);
  CHECK(silent.read() == "");
  CHECK(silent.end() == PeerEnd::kFin);
  CHECK(status_line(half.read()) == "HTTP/1.1 408 REQUEST TIMEOUT");
  CHECK(half.end() == PeerEnd::kFin);
  CHECK(kept.read() == "");
  CHECK(kept.end() == PeerEnd::kFin);
  CHECK(polling.read("", 300) == "");
  CHECK(polling.end() == PeerEnd::kOpen);
  thread.on_loop([&] { waiting(HttpResponse{200, {}, "at last"}); });
  CHECK(polling.read("at last").find("HTTP/1.1 200 OK") == 0);
}

TEST_CASE("a peer that goes away while it waits is noticed, and its answer goes nowhere") {
  LoopThread thread;
  Responder waiting;
  std::atomic<int> asked{0};
  auto tested = std::make_unique<ServerUnderTest>(thread, on_any_port(),
                                                  [&](const ServerRequest&, Responder r) {
                                                    waiting = std::move(r);
                                                    asked++;
                                                  });
  {
    RawClient raw(tested->port());
    REQUIRE(raw.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n"));
    REQUIRE(eventually([&] { return asked == 1; }));
  }
  CHECK(eventually([&] { return tested->closed == 1; }));
  thread.on_loop([&] { waiting(HttpResponse{200, {}, "to nobody"}); });
  CHECK(tested->closed == 1);
  RawClient raw(tested->port());
  REQUIRE(raw.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n"));
  REQUIRE(eventually([&] { return asked == 2; }));
  tested.reset();  // with a request open: the peer is closed
  CHECK(raw.read() == "");
  CHECK(raw.end() == PeerEnd::kFin);
  thread.on_loop([&] { waiting(HttpResponse{200, {}, "from nobody"}); });
}

TEST_CASE(
    "a large answer reaches a peer that has shut its own side down, and one that reads slowly") {
  LoopThread thread;
  HttpServerOptions options = on_any_port();
  options.idle_ms = 1'500;
  const std::string large(24 << 20, 'L');
  ServerUnderTest tested(thread, options, [&](const ServerRequest&, Responder r) {
    r(HttpResponse{200, {}, large});
  });
  RawClient finished(tested.port());
  REQUIRE(finished.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  finished.finish();
  const std::string whole = finished.read();
  CHECK(whole.size() > large.size());
  RawClient slow(tested.port());
  REQUIRE(slow.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  size_t seen = 0;
  while (slow.end() == PeerEnd::kOpen && seen < (8 << 20)) {
    seen += slow.read("", 1).size();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  seen += slow.read().size();
  CHECK(seen == whole.size() + std::string("Connection: close\r\n").size());
  RawClient deaf(tested.port());
  REQUIRE(deaf.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  const int before = tested.closed;
  CHECK(eventually([&] { return tested.closed > before; }));
}

TEST_CASE("connections beyond the bound, in all and per peer, are told so") {
  LoopThread thread;
  HttpServerOptions options = on_any_port();
  SECTION("in all") { options.max_connections = 2; }
  SECTION("per peer") { options.max_connections_per_peer = 2; }
  ServerUnderTest tested(thread, options, echo);
  RawClient first(tested.port()), second(tested.port());
  REQUIRE(first.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"));
  REQUIRE(second.send("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n"));
  CHECK(first.read("GET /1").find("200 OK") != std::string::npos);
  CHECK(second.read("GET /2").find("200 OK") != std::string::npos);
  CurlEasyClient client;
  auto refused = client.send(request_of("GET", tested.url("/3")), {});
  REQUIRE(refused.ok());
  CHECK(refused.value().status == 503);
  CHECK(parse_json(refused.value().body).value()["code"] == "UNAVAILABLE");
  CHECK(tested.closed == 0);  // it was never one of ours
  first.close();
  REQUIRE(eventually([&] { return tested.closed == 1; }));
  auto served = client.send(request_of("GET", tested.url("/4")), {});
  REQUIRE(served.ok());
  CHECK(served.value().status == 200);
}

TEST_CASE("a Unix peer whose uid is not allowed is told so and never handled") {
  LoopThread thread;
  TempFolder folder;
  HttpServerOptions options;
  options.unix_path = folder.file("s");
  options.allowed_uids = {static_cast<int64_t>(::getuid()) + 1};
  std::atomic<int> handled{0};
  ServerUnderTest tested(thread, options, [&](const ServerRequest&, Responder) { handled++; });
  REQUIRE(tested.started.ok());
  CurlEasyClient client;
  HttpOptions http;
  http.unix_socket_path = options.unix_path;
  auto answer = client.send(request_of("GET", "http://agent/"), http);
  REQUIRE(answer.ok());
  CHECK(answer.value().status == 403);
  CHECK(handled == 0);
}
