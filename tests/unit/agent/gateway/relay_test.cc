#include "agent/gateway/relay.h"

#include <catch2/catch.hpp>
#include <vector>

#include "core/base/json.h"

namespace leasehold {
namespace {

// A relay whose two sides only write down what they were told.
struct Bench {
  explicit Bench(int64_t answer_ms = 60'000)
      : relay(loop,
              {[this](std::string frame) { sent.push_back(parse_json(frame).value()); },
               [this](uint64_t connection) {
                 closed.push_back(connection);
                 relay.peer_gone(connection);  // as the server tells it afterwards
                 loop.stop();
               },
               [this] { return unsent; }},
              answer_ms) {
    relay.agent_connected();
  }
  void ask(uint64_t connection, const std::string& body = "{}", const std::string& peer = "",
           const std::string& path = "/v1/hello", const std::string& method = "POST") {
    ServerRequest request;
    request.connection = connection;
    request.method = method;
    request.path = path;
    request.body = body;
    request.peer_address = peer;
    if (path == "/v1/results") request.peer_chain_der = {"a certificate"};
    relay.handle(request, [this](HttpResponse response) { statuses.push_back(response.status); });
  }

  Loop loop;
  std::vector<Json> sent;
  std::vector<uint64_t> closed;
  std::vector<int> statuses;
  size_t unsent = 0;  // of the socket to the agent
  Relay relay;
};

TEST_CASE("an answer that is overdue closes the connection and tells the agent") {
  Bench bench(5);
  bench.ask(7);
  bench.loop.run();
  CHECK(bench.closed == std::vector<uint64_t>{7});
  CHECK(bench.statuses.empty());
  REQUIRE(bench.sent.size() == 3);
  CHECK(bench.sent[2] == Json{{"type", "close"}, {"conn", 7}});
  // The late answer meets nobody.
  CHECK(bench.relay.agent_frame(R"({"type":"reply","conn":7,"status":200,"body":""})").ok());
  CHECK(bench.statuses.empty());
}

TEST_CASE("an answer in time is not overdue later") {
  Bench bench(5);
  bench.ask(7);
  REQUIRE(bench.relay.agent_frame(R"({"type":"reply","conn":7,"status":200,"body":""})").ok());
  bench.loop.after(30, [&] { bench.loop.stop(); });
  bench.loop.run();
  CHECK(bench.statuses == std::vector<int>{200});
  CHECK(bench.closed.empty());
}

TEST_CASE("what the agent has not read is bounded in bytes, in all and for each peer") {
  Bench bench;
  bench.unsent = size_t{1} << 30;  // the agent reads nothing
  const std::string body(900'000, 'x');
  auto results = [&](uint64_t connection, const std::string& peer) {
    bench.ask(connection, body, peer, "/v1/results");
  };
  results(1, "a");
  results(2, "a");
  CHECK(bench.statuses.empty());
  results(3, "a");  // one peer's third would be over its share
  CHECK(bench.statuses == std::vector<int>{503});
  for (uint64_t i = 0; i < 6; ++i) results(10 + i, "b" + std::to_string(i));
  CHECK(bench.statuses == std::vector<int>{503});
  for (uint64_t i = 0; i < 4; ++i) results(20 + i, "c" + std::to_string(i));
  CHECK(bench.statuses.size() > 1);
  bench.statuses.clear();
  // Once they are with the agent they take nobody's room, answered or not.
  bench.unsent = 0;
  results(30, "a");
  results(31, "d");
  CHECK(bench.statuses.empty());
}

TEST_CASE("a body is only taken where it may say something") {
  Bench bench;
  const std::string large(limits::kGatewaySmallBodyBytes + 1, 'x');
  bench.ask(1, "{}", "a", "/v1/commands", "GET");
  CHECK(bench.statuses == std::vector<int>{400});
  bench.ask(2, large, "a", "/v1/hello");
  bench.ask(3, large, "a", "/v1/telemetry");
  bench.ask(4, large, "a", "/v1/else");  // without a certificate
  CHECK(bench.statuses == std::vector<int>{400, 413, 413, 413});
  CHECK(bench.sent.empty());
  bench.ask(5, large, "a", "/v1/results");
  bench.ask(6, "", "a", "/v1/commands", "GET");
  CHECK(bench.statuses.size() == 4);
  CHECK(bench.sent.size() == 4);
}

TEST_CASE("a lost agent closes what it knew and the next one hears nothing of it") {
  Bench bench;
  bench.ask(1);
  bench.ask(2);
  bench.relay.agent_lost();
  CHECK(bench.closed == std::vector<uint64_t>{1, 2});
  CHECK(bench.sent.size() == 4);
  bench.ask(3);
  CHECK(bench.statuses == std::vector<int>{503});
  bench.relay.agent_connected();
  bench.ask(3);
  REQUIRE(bench.sent.size() == 6);
  CHECK(bench.sent[4]["type"] == "open");
}

TEST_CASE("a second request before the answer is refused") {
  Bench bench;
  bench.ask(1);
  bench.ask(1);
  CHECK(bench.statuses == std::vector<int>{409});
  CHECK(bench.sent.size() == 2);
}

TEST_CASE("a chain that is too long leaves no trace with the agent") {
  Bench bench;
  ServerRequest request;
  request.connection = 1;
  request.method = "GET";
  request.path = "/v1/commands";
  request.peer_chain_der = {std::string(limits::kGatewayChainBytes + 1, 'x')};
  bench.relay.handle(request,
                     [&](HttpResponse response) { bench.statuses.push_back(response.status); });
  CHECK(bench.statuses == std::vector<int>{413});
  CHECK(bench.sent.empty());
  bench.relay.peer_gone(1);
  CHECK(bench.sent.empty());
}

}  // namespace
}  // namespace leasehold
