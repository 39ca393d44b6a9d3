#include "core/loop/http_server.h"

#include <atomic>

#include "core/base/json.h"
#include "core/curl/http_client.h"
#include "tests/unit/core/loop/support.h"

using namespace leasehold;
using namespace leasehold::test;

TEST_CASE("a request over TCP is decoded and answered") {
  LoopThread thread;
  std::string peer;
  int64_t uid = 0;
  ServerUnderTest tested(thread, on_any_port(), [&](const ServerRequest& request, Responder r) {
    peer = request.peer_address;
    uid = request.peer_uid;
    echo(request, r);
  });
  REQUIRE(tested.started.ok());
  CurlEasyClient client;
  auto answer = client.send(request_of("PUT", tested.url("/a%20b/c?x=1&y=%20"), "body"), {});
  REQUIRE(answer.ok());
  CHECK(answer.value().status == 200);
  CHECK(answer.value().body == "PUT /a b/c x=1&y=%20 body");
  CHECK(header_value(answer.value().headers, "content-type") == "text/plain");
  CHECK(peer == "127.0.0.1");
  CHECK(uid == -1);
  CHECK(eventually([&] { return tested.closed == 1; }));
}

TEST_CASE("a request over a Unix socket carries the peer's uid") {
  LoopThread thread;
  TempFolder folder;
  HttpServerOptions options;
  options.unix_path = folder.file("s");
  options.unix_mode = 0600;
  options.allowed_uids = {static_cast<int64_t>(::getuid())};
  int64_t uid = -1;
  ServerUnderTest tested(thread, options, [&](const ServerRequest& request, Responder r) {
    uid = request.peer_uid;
    echo(request, r);
  });
  REQUIRE(tested.started.ok());
  const auto permissions = std::filesystem::status(options.unix_path).permissions();
  CHECK(permissions == std::filesystem::perms(0600));
  CurlEasyClient client;
  HttpOptions http;
  http.unix_socket_path = options.unix_path;
  auto answer = client.send(request_of("GET", "http://agent/v1/status"), http);
  REQUIRE(answer.ok());
  CHECK(answer.value().body == "GET /v1/status  ");
  CHECK(uid == static_cast<int64_t>(::getuid()));
  tested.destroy();
  CHECK_FALSE(std::filesystem::exists(options.unix_path));
}

TEST_CASE("HEAD is answered as GET, with the length and without the body") {
  LoopThread thread;
  ServerUnderTest tested(thread, on_any_port(), echo);
  RawClient raw(tested.port());
  REQUIRE(raw.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n"));
  const std::string head = raw.read("\r\n\r\n");
  CHECK(status_line(head) == "HTTP/1.1 200 OK");
  CHECK(head.find("Content-Length: 9\r\n") != std::string::npos);  // "HEAD /x  "
  REQUIRE(raw.send("GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  const std::string get = raw.read();  // nothing of the HEAD's body is before it
  CHECK(status_line(get) == "HTTP/1.1 200 OK");
  CHECK(get.find("Connection: close\r\n") != std::string::npos);
  CHECK(get.substr(get.size() - 8) == "GET /x  ");
  CHECK(raw.end() == PeerEnd::kFin);
}

TEST_CASE("pipelined requests are answered one after another, in order") {
  LoopThread thread;
  std::vector<Responder> waiting;
  ServerUnderTest tested(thread, on_any_port(), [&](const ServerRequest& request, Responder r) {
    if (request.path == "/wait") return waiting.push_back(std::move(r));
    echo(request, r);
  });
  RawClient raw(tested.port());
  REQUIRE(
      raw.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n"
               "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
               "GET /wait HTTP/1.1\r\nHost: h\r\n\r\nGET /d HTTP/1.0\r\n\r\n"));
  const auto waits = [&](size_t count) {
    size_t seen = 0;
    thread.on_loop([&] { seen = waiting.size(); });
    return seen == count;
  };
  REQUIRE(eventually([&] { return waits(1); }));
  CHECK(raw.read("", 50) == "");  // the second waits for the first
  thread.on_loop([&] { waiting[0](HttpResponse{200, {}, "first"}); });
  const std::string two = raw.read("POST /b  abc");
  CHECK(two.find("first") < two.find("POST /b  abc"));
  REQUIRE(eventually([&] { return waits(2); }));
  thread.on_loop([&] {
    waiting[1](HttpResponse{200, {}, "third"});
    waiting[1](HttpResponse{200, {}, "never"});  // once is enough
    waiting[0](HttpResponse{200, {}, "never"});  // and only for its own request
  });
  const std::string rest = raw.read();
  CHECK(rest.find("third") != std::string::npos);
  CHECK(rest.find("GET /d") != std::string::npos);
  CHECK(rest.find("never") == std::string::npos);
  CHECK(raw.end() == PeerEnd::kFin);  // HTTP/1.0
}

TEST_CASE("a chunked body is accepted within the bound, and 100-continue is answered") {
  LoopThread thread;
  HttpServerOptions options = on_any_port();
  options.max_body_bytes = 16;
  ServerUnderTest tested(thread, options, echo);
  RawClient raw(tested.port());
  REQUIRE(
      raw.send("POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
               "3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n"));
  CHECK(raw.read("POST /c  abcde").find("POST /c  abcde") != std::string::npos);
  REQUIRE(
      raw.send("POST /e HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
               "Content-Length: 4\r\n\r\n"));
  CHECK(raw.read("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  REQUIRE(raw.send("body"));
  CHECK(raw.read("POST /e  body").find("HTTP/1.1 200 OK") == 0);
}

TEST_CASE("abort() ends a connection with RST or FIN, close() with FIN, all without an answer") {
  LoopThread thread;
  HttpServer* server = nullptr;
  ServerUnderTest tested(thread, on_any_port(), [&](const ServerRequest& request, Responder r) {
    if (request.path == "/reset") server->abort(request.connection, true);
    if (request.path == "/drop") server->abort(request.connection, false);
    if (request.path == "/close") server->close(request.connection);
    server->close(request.connection);  // unknown by now
    r(HttpResponse{200, {}, "never"});
  });
  server = &tested.server();
  int closed = 0;
  const std::vector<std::pair<std::string, PeerEnd>> table = {
      {"/reset", PeerEnd::kReset}, {"/drop", PeerEnd::kFin}, {"/close", PeerEnd::kFin}};
  for (const auto& [path, end] : table) {
    RawClient raw(tested.port());
    REQUIRE(raw.send("GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n"));
    CHECK(raw.read() == "");
    CHECK(raw.end() == end);
    closed++;
    CHECK(eventually([&] { return tested.closed == closed; }));
  }
}

TEST_CASE("a handler cannot inject headers: a line break in one makes the answer a 500") {
  LoopThread thread;
  ServerUnderTest tested(thread, on_any_port(), [&](const ServerRequest& request, Responder r) {
    HttpResponse response{200, {{"Content-Length", "4711"}, {"Transfer-Encoding", "chunked"}}, "b"};
    if (request.path == "/value") response.headers.emplace_back("A", "b\r\nSet-Cookie: x");
    if (request.path == "/name") response.headers.emplace_back("A: b\r\nSet-Cookie", "x");
    if (request.path == "/status") response.status = 99;
    r(response);
  });
  CurlEasyClient client;
  for (const std::string path : {"/value", "/name", "/status"}) {
    auto answer = client.send(request_of("GET", tested.url(path)), {});
    REQUIRE(answer.ok());
    CHECK(answer.value().status == 500);
    CHECK(header_value(answer.value().headers, "Set-Cookie") == "");
    CHECK(parse_json(answer.value().body).value()["code"] == "INTERNAL");
  }
  auto plain = client.send(request_of("GET", tested.url("/")), {});
  REQUIRE(plain.ok());
  CHECK(plain.value().status == 200);
  CHECK(header_value(plain.value().headers, "Content-Length") == "1");
  CHECK(header_value(plain.value().headers, "Transfer-Encoding") == "");
}

TEST_CASE("204 has neither body nor length; a handler may end the connection; Upgrade is ignored") {
  LoopThread thread;
  ServerUnderTest tested(thread, on_any_port(), [&](const ServerRequest& request, Responder r) {
    if (request.path == "/none") return r(HttpResponse{204, {}, "never"});
    if (request.path == "/end") return r(HttpResponse{200, {{"Connection", "close"}}, "end"});
    echo(request, r);
  });
  RawClient raw(tested.port());
  REQUIRE(raw.send("GET /none HTTP/1.1\r\nHost: h\r\n\r\n"));
  CHECK(raw.read("\r\n\r\n") == "HTTP/1.1 204 NO CONTENT\r\n\r\n");
  REQUIRE(
      raw.send("GET /u HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\n"
               "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n\r\n"));
  CHECK(raw.read("GET /u").find("HTTP/1.1 200 OK") == 0);
  REQUIRE(raw.send("GET /end HTTP/1.1\r\nHost: h\r\n\r\n"));
  CHECK(raw.read().find("Connection: close\r\n\r\nend") != std::string::npos);
  CHECK(raw.end() == PeerEnd::kFin);
}

TEST_CASE("errors become HTTP statuses, and queries are decoded") {
  const std::vector<std::pair<Code, int>> table = {
      {Code::kInvalidInput, 400}, {Code::kUnauthenticated, 401},
      {Code::kForbidden, 403},    {Code::kTenantControlled, 403},
      {Code::kNotFound, 404},     {Code::kConflict, 409},
      {Code::kTooLarge, 413},     {Code::kUnavailable, 503},
      {Code::kTimeout, 504},      {Code::kIo, 500},
      {Code::kPowerNotOff, 500}};
  for (const auto& [code, status] : table) {
    CHECK(error_response(Error(code, "m")).status == status);
  }
  const HttpResponse response = error_response(Error(Code::kNotFound, "no \"n\"", "node"));
  CHECK(parse_json(response.body).value() ==
        Json({{"code", "NOT_FOUND"}, {"message", "no \"n\""}, {"field", "node"}}));
  CHECK(query_value("after=3&x=a%20b%26&empty=&flag", "after") == "3");
  CHECK(query_value("after=3&x=a%20b%26&empty=&flag", "x") == "a b&");
  CHECK(query_value("after=3&x=a%20b%26&empty=&flag", "empty") == "");
  CHECK(query_value("after=3&x=a%20b%26&empty=&flag", "flag") == "");
  CHECK(query_value("xafter=3", "after") == "");
  CHECK(query_value("", "after") == "");
  CHECK(query_value("a=%4", "a") == "");
}

TEST_CASE("the curl program can talk to the server") {
  LoopThread thread;
  ServerUnderTest tested(thread, on_any_port(), echo);
  TempFolder folder;
  REQUIRE(std::system(("curl --silent --max-time 5 --noproxy '*' --data hello -o " +
                       folder.file("out") + " -w '%{http_code}' '" + tested.url("/c?x=1") + "' > " +
                       folder.file("code"))
                          .c_str()) == 0);
  CHECK(read_file(folder.file("code"), 100).value() == "200");
  CHECK(read_file(folder.file("out"), 100).value() == "POST /c x=1 hello");
}

TEST_CASE("firmware may leave the Host field out where the server says so; nobody may send two") {
  LoopThread thread;
  HttpServerOptions options = on_any_port();
  options.host_optional = true;
  ServerUnderTest tested(thread, options, echo);
  RawClient raw(tested.port());
  REQUIRE(raw.send("GET /f HTTP/1.1\r\n\r\nGET /t HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"));
  const std::string answers = raw.read();
  CHECK(answers.find("GET /f") != std::string::npos);
  CHECK(answers.find("HTTP/1.1 400 ") != std::string::npos);
}

namespace {

// A body of `size` bytes that is read in pieces, and fails at `fails_at`.
struct CountingSource : BodySource {
  size_t total = 0, fails_at = SIZE_MAX, most = 0;
  size_t size() const override { return total; }
  Result<std::string> read(size_t offset, size_t max_bytes) override {
    if (offset >= fails_at) return Error(Code::kIo, "the file has gone");
    most = std::max(most, max_bytes);
    std::string piece(std::min(max_bytes, total - offset), '\0');
    for (size_t i = 0; i < piece.size(); i++) piece[i] = static_cast<char>((offset + i) % 251);
    return piece;
  }
};

}  // namespace

TEST_CASE("a body from a source comes in pieces, whole or visibly cut short, and not for HEAD") {
  LoopThread thread;
  const auto source = std::make_shared<CountingSource>();
  source->total = 3'000'001;
  ServerUnderTest tested(thread, on_any_port(), [&](const ServerRequest&, Responder r) {
    HttpResponse response{200, {}, ""};
    response.source = source;
    r(std::move(response));
  });
  CurlEasyClient client;
  auto whole = client.send(request_of("GET", tested.url("/")), {});
  REQUIRE(whole.ok());
  CHECK(whole.value().body == source->read(0, source->total).value());
  source->most = 0;
  auto head = client.send(request_of("HEAD", tested.url("/")), {});
  REQUIRE(head.ok());
  CHECK(header_value(head.value().headers, "Content-Length") == "3000001");
  CHECK(source->most == 0);
  RawClient raw(tested.port());
  REQUIRE(raw.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  raw.finish();
  CHECK(raw.read().size() > source->total);
  CHECK(source->most == limits::kHttpPieceBytes);
  source->fails_at = 1'000'000;
  auto cut = client.send(request_of("GET", tested.url("/")), {});
  REQUIRE_FALSE(cut.ok());
  CHECK(cut.error().code == Code::kMalformed);
}
