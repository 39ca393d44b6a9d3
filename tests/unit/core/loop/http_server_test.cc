#include "core/loop/http_server.h"

#include <atomic>

#include "core/base/json.h"
#include "core/curl/http_client.h"
#include "tests/unit/core/loop/support.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

void echo(const ServerRequest& request, const Responder& respond) {
  HttpResponse response{200, {{"Content-Type", "text/plain"}}, ""};
  response.body = request.method + " " + request.path + " " + request.query + " " + request.body;
  respond(response);
}

HttpRequest request_of(const std::string& method, const std::string& url,
                       const std::string& body = "") {
  return HttpRequest{method, url, {}, body};
}

}  // namespace

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
