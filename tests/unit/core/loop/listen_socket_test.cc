#include "core/loop/http_server.h"

#include "tests/unit/core/loop/support.h"

using namespace leasehold;
using namespace leasehold::test;

TEST_CASE("an address that cannot be bound says which it is and what to do") {
  LoopThread thread;
  TempFolder folder;
  ServerUnderTest first(thread, on_any_port(), echo);
  HttpServerOptions options = on_any_port();
  const auto error_of = [&](const HttpServerOptions& bad) {
    ServerUnderTest second(thread, bad, echo);
    REQUIRE_FALSE(second.started.ok());
    CHECK(second.started.error().code == Code::kConfig);
    return second.started.error().message;
  };
  options.tcp_port = first.port();
  CHECK(error_of(options).find("127.0.0.1:" + std::to_string(first.port()) +
                               " is in use by another program: stop") == 0);
  options = on_any_port();
  options.tcp_host = "192.0.2.1";
  CHECK(error_of(options).find("is not an address of this machine") != std::string::npos);
  options.tcp_host = "localhost";
  CHECK(error_of(options).find("not a numeric address") != std::string::npos);
  HttpServerOptions local;
  local.unix_path = folder.file("nowhere/s");
  CHECK(error_of(local).find("create it") != std::string::npos);
  local.unix_path = folder.file("plain");
  REQUIRE(write_file_atomic(local.unix_path, "precious", 0600).ok());
  CHECK(error_of(local).find("is not a socket") != std::string::npos);
  CHECK(read_file(local.unix_path, 100).value() == "precious");
  local.unix_path = folder.file(std::string(120, 'x'));
  CHECK(error_of(local).find("too long") != std::string::npos);
}

TEST_CASE("a live Unix socket is not taken over, a stale one is") {
  LoopThread thread;
  TempFolder folder;
  HttpServerOptions options;
  options.unix_path = folder.file("s");
  {
    ServerUnderTest first(thread, options, echo);
    REQUIRE(first.started.ok());
    ServerUnderTest second(thread, options, echo);
    REQUIRE_FALSE(second.started.ok());
    CHECK(second.started.error().code == Code::kConfig);
    CHECK(second.started.error().message.find(options.unix_path + " is in use") == 0);
  }
  {
    FileDescriptor dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, options.unix_path.c_str(), sizeof(address.sun_path) - 1);
    REQUIRE(::bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  }
  ServerUnderTest third(thread, options, echo);
  CHECK(third.started.ok());
}
