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
               }},
              answer_ms) {
    relay.agent_connected();
  }
  void ask(uint64_t connection, const std::string& body = "{}") {
    ServerRequest request;
    request.connection = connection;
    request.method = "POST";
    request.path = "/v1/hello";
    request.body = body;
    relay.handle(request, [this](HttpResponse response) { statuses.push_back(response.status); });
  }

  Loop loop;
  std::vector<Json> sent;
  std::vector<uint64_t> closed;
  std::vector<int> statuses;
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

TEST_CASE("what waits for the agent is bounded in bytes") {
  Bench bench;
  const std::string body(1 << 19, 'x');
  const size_t fit = limits::kGatewayPendingBytes / body.size();
  for (uint64_t i = 1; i <= fit + 1; ++i) bench.ask(i, body);
  CHECK(bench.statuses == std::vector<int>{503});
  CHECK(bench.sent.size() == 2 * fit);
  // One answered and one gone make room for two.
  REQUIRE(bench.relay.agent_frame(R"({"type":"reply","conn":1,"status":200,"body":""})").ok());
  bench.relay.peer_gone(2);
  bench.ask(101, body);
  bench.ask(102, body);
  CHECK(bench.statuses == std::vector<int>{503, 200});
  bench.ask(103, body);
  CHECK(bench.statuses == std::vector<int>{503, 200, 503});
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
