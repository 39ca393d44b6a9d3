// The real leasehold-gateway between a machine and an agent that the tests play.
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "core/base/bytes.h"
#include "core/base/limits.h"
#include "core/base/subprocess.h"
#include "core/curl/http_client.h"
#include "core/tls/crypto.h"
#include "core/tls/tls.h"
#include "tests/support/running_program.h"
#include "tests/unit/agent/gateway/peers.h"

namespace leasehold::test {
namespace {

class Site {
 public:
  Site() {
    char name[] = "/tmp/leasehold-gateway-XXXXXX";
    folder = ::mkdtemp(name);
    leaf = gateway_leaf();
    REQUIRE(write_file_atomic(folder + "/chain.pem", leaf.chain_pem, 0600).ok());
    REQUIRE(write_file_atomic(folder + "/key.pem", leaf.key_pem, 0600).ok());
    agent = std::make_unique<FakeAgent>(folder + "/agent");
    start();
  }
  ~Site() {
    program.reset();
    std::filesystem::remove_all(folder);
  }
  void start() {
    program.reset();
    const Json config = {{"listen_host", "127.0.0.1"},
                         {"listen_port", 0},
                         {"certificate_file", folder + "/chain.pem"},
                         {"private_key_file", folder + "/key.pem"},
                         {"agent_socket", folder + "/agent"}};
    REQUIRE(write_file_atomic(folder + "/config", config.dump(), 0600).ok());
    program = std::make_unique<RunningProgram>(
        std::vector<std::string>{LEASEHOLD_BIN_DIR "/leasehold-gateway", "--config",
                                 folder + "/config"},
        folder + "/log");
    const Json started = program->await_event("program.started");
    if (!started.is_null()) port = started["port"].get<uint16_t>();
  }
  // Until the gateway itself knows that its agent is there.
  void connect_agent() {
    REQUIRE(agent->accept());
    REQUIRE_FALSE(program->await_event("gateway.agent-connected").is_null());
  }

  std::string folder;
  Leaf leaf;
  std::unique_ptr<FakeAgent> agent;
  std::unique_ptr<RunningProgram> program;
  uint16_t port = 0;
};

std::string code_of(const TlsMachine::Answer& answer) {
  return json_text(parse_json(answer.body).value_or(nullptr), "code");
}

TEST_CASE("a request goes to the agent and its reply comes back") {
  Site site;
  site.connect_agent();
  Json first;
  {
    TlsMachine machine(site.port, "", "");
    REQUIRE(machine.connected());
    REQUIRE(machine.post("/v1/hello?x=1", R"({"nonce":"bm9uY2Utb2YtYS1tYWNoaW5l"})"));
    first = site.agent->hear();
    CHECK(first == Json{{"type", "open"},
                        {"conn", first["conn"]},
                        {"peer", "127.0.0.1"},
                        {"chain", Json::array()}});
    Json request = site.agent->hear();
    CHECK(request == Json{{"type", "request"},
                          {"conn", first["conn"]},
                          {"method", "POST"},
                          {"path", "/v1/hello"},
                          {"query", "x=1"},
                          {"body", R"({"nonce":"bm9uY2Utb2YtYS1tYWNoaW5l"})"}});
    site.agent->reply(request, 403, R"({"code":"FORBIDDEN"})");
    TlsMachine::Answer answer = machine.hear();
    CHECK(answer.status == 403);
    CHECK(answer.body == R"({"code":"FORBIDDEN"})");
    // The same connection again: no second "open".
    REQUIRE(machine.post("/v1/join", "{}"));
    request = site.agent->hear();
    CHECK(request["type"] == "request");
    CHECK(request["conn"] == first["conn"]);
    site.agent->reply(request, 200, "{}");
    CHECK(machine.hear().status == 200);
  }
  CHECK(site.agent->hear() == Json{{"type", "close"}, {"conn", first["conn"]}});
  CHECK(site.program->log().find("bm9uY2Ut") == std::string::npos);
}

TEST_CASE("the client's chain goes to the agent as it was shown") {
  Site site;
  site.connect_agent();
  const Leaf ramdisk = ramdisk_leaf();
  TlsMachine machine(site.port, ramdisk.chain_pem, ramdisk.key_pem);
  REQUIRE(machine.connected());
  REQUIRE(machine.say("GET /v1/commands?after=0 HTTP/1.1\r\nHost: g\r\n\r\n"));
  const Json open = site.agent->hear();
  REQUIRE(open["chain"].size() == 3);
  CHECK(open["chain"][0] == base64_encode(ramdisk.leaf_der));
}

TEST_CASE("our own client reaches the gateway by its certificate") {
  Site site;
  site.connect_agent();
  Result<HttpResponse> answer = Error();
  std::thread machine([&] {
    HttpOptions options;
    options.timeout_ms = 10'000;
    options.tls.judge = pin_judge(sha256_hex(site.leaf.leaf_der));
    answer = CurlEasyClient().send(
        {"POST", "https://127.0.0.1:" + std::to_string(site.port) + "/v1/hello", {}, "{}"},
        options);
  });
  site.agent->hear();
  const Json request = site.agent->hear();
  if (!request.is_null()) site.agent->reply(request, 200, R"({"a":1})");
  machine.join();
  REQUIRE(answer.ok());
  CHECK(answer.value().status == 200);
  CHECK(answer.value().body == R"({"a":1})");
}

TEST_CASE("curl reaches the gateway") {
  Site site;
  site.connect_agent();
  Result<SubprocessOutcome> outcome = Error();
  std::thread machine([&] {
    SubprocessOptions options;
    options.argv = {"curl",       "-sk",
                    "--max-time", "10",
                    "--tlsv1.3",  "-d",
                    "{}",         "https://127.0.0.1:" + std::to_string(site.port) + "/v1/hello"};
    outcome = run_subprocess(options);
  });
  site.agent->hear();
  const Json request = site.agent->hear();
  if (!request.is_null()) site.agent->reply(request, 200, R"({"a":1})");
  machine.join();
  REQUIRE(outcome.ok());
  CHECK(outcome.value().out == R"({"a":1})");
}

TEST_CASE("an agent that dies in the middle closes its connections and is found again") {
  Site site;
  site.connect_agent();
  TlsMachine machine(site.port, "", "");
  REQUIRE(machine.post("/v1/hello", "{}"));
  REQUIRE_FALSE(site.agent->hear().is_null());
  REQUIRE_FALSE(site.agent->hear().is_null());
  TlsMachine idle(site.port, "", "");  // served once, then waiting
  REQUIRE(idle.post("/v1/hello", "{}"));
  site.agent->hear();
  site.agent->reply(site.agent->hear(), 200, "{}");
  REQUIRE(idle.hear().status == 200);

  site.agent->hang_up();
  CHECK(machine.ended());
  CHECK(idle.ended());
  TlsMachine early(site.port, "", "");
  REQUIRE(early.post("/v1/hello", "{}"));
  const TlsMachine::Answer refused = early.hear();
  // Only until it has connected again, which it may have.
  if (refused.status != 0) CHECK((refused.status == 503 && code_of(refused) == "UNAVAILABLE"));

  REQUIRE(site.agent->accept());
  REQUIRE(eventually([&] {
    const std::string log = site.program->log();
    return log.rfind("gateway.agent-connected") > log.rfind("gateway.agent-lost");
  }));
  TlsMachine later(site.port, "", "");
  REQUIRE(later.post("/v1/hello", "{}"));
  CHECK(site.agent->hear()["type"] == "open");
  site.agent->reply(site.agent->hear(), 200, "{}");
  CHECK(later.hear().status == 200);
}

TEST_CASE("without an agent there is 503, and trying goes on") {
  Site site;  // whose agent lets nobody in, as for a wrong uid
  for (int i = 0; i < 2; ++i) {
    REQUIRE(site.agent->accept());
    site.agent->hang_up();
  }
  TlsMachine machine(site.port, "", "");
  TlsMachine::Answer answer;
  // A request can meet the moment between "connected" and "let go of" and be closed.
  for (int i = 0; i < 5 && answer.status == 0; ++i) {
    TlsMachine again(site.port, "", "");
    REQUIRE(again.post("/v1/hello", "{}"));
    answer = again.hear();
  }
  CHECK(answer.status == 503);
  CHECK(code_of(answer) == "UNAVAILABLE");
}

TEST_CASE("the agent closes a connection: in the middle of a poll, and when idle") {
  Site site;
  site.connect_agent();
  TlsMachine polling(site.port, "", "");
  REQUIRE(polling.say("GET /v1/commands HTTP/1.1\r\nHost: g\r\n\r\n"));
  Json open = site.agent->hear();
  site.agent->hear();
  site.agent->say({{"type", "close"}, {"conn", open["conn"]}});
  CHECK(polling.ended());

  TlsMachine idle(site.port, "", "");
  REQUIRE(idle.post("/v1/hello", "{}"));
  open = site.agent->hear();
  CHECK(open["type"] == "open");  // and no "close" of the former, which the agent itself ended
  site.agent->reply(site.agent->hear(), 200, "{}");
  REQUIRE(idle.hear().status == 200);
  site.agent->say({{"type", "close"}, {"conn", open["conn"]}});
  CHECK(idle.ended());
  CHECK(site.agent->hears_nothing());
}

TEST_CASE("a machine that goes during a poll is reported, and its reply goes nowhere") {
  Site site;
  site.connect_agent();
  auto machine = std::make_unique<TlsMachine>(site.port, "", "");
  REQUIRE(machine->say("GET /v1/commands HTTP/1.1\r\nHost: g\r\n\r\n"));
  const Json open = site.agent->hear();
  const Json request = site.agent->hear();
  machine.reset();
  CHECK(site.agent->hear() == Json{{"type", "close"}, {"conn", open["conn"]}});
  site.agent->reply(request, 200, "{}");
  TlsMachine next(site.port, "", "");
  REQUIRE(next.post("/v1/hello", "{}"));
  CHECK(site.agent->hear()["conn"] != open["conn"]);
}

TEST_CASE("what is malformed or oversized never reaches the agent") {
  Site site;
  site.connect_agent();
  struct Case {
    std::string text;
    int status;
  };
  const std::string head = " HTTP/1.1\r\nHost: g\r\n";
  const std::string too_long = std::to_string(limits::kGatewayBodyBytes + 1);
  const Case cases[] = {
      {"garbage\r\n\r\n", 400},
      {"GET /" + head + "\r\n", 404},
      {"GET /v2/hello" + head + "\r\n", 404},
      {"DELETE /v1/hello" + head + "\r\n", 404},
      {"GET /v1/../v1/hello" + head + "\r\n", 400},
      {"POST /v1/hello" + head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400},
      {"POST /v1/hello" + head + "Content-Length: 2\r\n\r\n\xff\xff", 400},
      {"POST /v1/results" + head + "Content-Length: " + too_long + "\r\n\r\n", 413},
      {"GET /v1/hello" + head + "X: " + std::string(17 << 10, 'x') + "\r\n\r\n", 431},
  };
  for (const Case& each : cases) {
    INFO(each.text.substr(0, 60));
    TlsMachine machine(site.port, "", "");
    REQUIRE(machine.say(each.text));
    CHECK(machine.hear().status == each.status);
  }
  // Within the body's bound, but not within the frame's once JSON has escaped it.
  TlsMachine machine(site.port, "", "");
  REQUIRE(machine.post("/v1/results", std::string(limits::kGatewayBodyBytes, '\x01')));
  CHECK(machine.hear().status == 413);
  CHECK(site.agent->hears_nothing());
}

TEST_CASE("the largest body passes whole") {
  Site site;
  site.connect_agent();
  const std::string body(limits::kGatewayBodyBytes, 'b');
  const Leaf ramdisk = ramdisk_leaf();  // without a certificate nobody sends so much
  TlsMachine machine(site.port, ramdisk.chain_pem, ramdisk.key_pem);
  REQUIRE(machine.post("/v1/results", body));
  site.agent->hear();
  const Json request = site.agent->hear();
  CHECK(json_text(request, "body") == body);
  site.agent->reply(request, 200, "{}");
  CHECK(machine.hear().status == 200);
}

TEST_CASE("only TLS 1.3 is spoken and no session is resumed") {
  Site site;
  site.connect_agent();
  CHECK_FALSE(TlsMachine(site.port, "", "", TLS1_2_VERSION).connected());
  HttpOptions options;
  options.timeout_ms = 10'000;
  const std::string plain = "http://127.0.0.1:" + std::to_string(site.port) + "/v1/hello";
  CHECK_FALSE(CurlEasyClient().send({"GET", plain, {}, ""}, options).ok());
  CHECK(site.agent->hears_nothing());
}

TEST_CASE("one address has a bounded number of connections") {
  Site site;
  site.connect_agent();
  std::vector<std::unique_ptr<TlsMachine>> machines;
  for (size_t i = 0; i < limits::kGatewayConnectionsPerPeer; ++i) {
    machines.push_back(std::make_unique<TlsMachine>(site.port, "", ""));
    REQUIRE(machines.back()->connected());
  }
  CHECK_FALSE(TlsMachine(site.port, "", "").connected());
  machines.pop_back();
  CHECK(eventually([&] { return TlsMachine(site.port, "", "").connected(); }));
}

TEST_CASE("an agent that talks nonsense is let go of") {
  Site site;
  site.connect_agent();
  site.agent->say_raw("nonsense");
  CHECK(site.agent->hung_up());
  REQUIRE(site.agent->accept());
  site.agent->say({{"type", "reply"}, {"conn", 99}, {"status", 200}, {"body", ""}});
  TlsMachine machine(site.port, "", "");
  TlsMachine::Answer answer;
  REQUIRE(machine.post("/v1/hello", "{}"));
  const Json open = site.agent->hear();
  CHECK(open["type"] == "open");
  const Json request = site.agent->hear();
  site.agent->reply(request, 200, "{}");
  CHECK(machine.hear().status == 200);
  // A reply that nobody waits for would be taken for that of the next request.
  site.agent->reply(request, 200, R"({"stale":true})");
  CHECK(site.agent->hung_up());
  CHECK(machine.ended());
}

TEST_CASE("what keeps the gateway from starting is said") {
  Site site;
  ::chmod((site.folder + "/key.pem").c_str(), 0644);
  site.start();
  CHECK(site.program->wait() == 1);
  const std::string said = json_text(site.program->find_event("program.failed"), "message");
  CHECK(said.find("chmod 600 " + site.folder + "/key.pem") != std::string::npos);
}

}  // namespace
}  // namespace leasehold::test
