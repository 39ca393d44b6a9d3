// How soon a row that a site has committed is seen by an operator: the real coordinator behind TLS
// on loopback, a site that speaks core/sync, and a reader that long-polls the feed of events. The
// time is from just before the site's own commit to the reader's answer, so that two commits, a
// push and a long poll's wake are in it.
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "core/base/files.h"
#include "core/command_line/options.h"
#include "core/curl/http_client.h"
#include "core/rows/site_rows.h"
#include "core/tls/crypto.h"
#include "tests/support/fake_site.h"
#include "tests/support/running_program.h"

using namespace leasehold;

namespace {

constexpr double kGoalMs = 50;
constexpr int64_t kDayMs = 24LL * 3600 * 1000;
constexpr const char* kDomain = "example.net";
constexpr const char* kHost = "coordinator.example.net";

using SteadyClock = std::chrono::steady_clock;

int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             SteadyClock::now().time_since_epoch())
      .count();
}

struct Leaf {
  std::string chain_pem;
  std::string key_pem;
};

// The files of `leasehold ca init`, as far as the coordinator reads them.
class Authority {
 public:
  explicit Authority(const std::string& folder) : folder_(folder) {
    root_ = issue_root(kDomain, days(100)).value();
    issuing_ = issue_issuing_ca(root_, kDomain, days(90)).value();
    write("root.pem", root_.certificate_pem);
    write("issuing.pem", issuing_.certificate_pem);
    write("issuing.key", issuing_.private_key_pem);
    Leaf leaf = make(IdentityKind::kCoordinator, {kHost});
    write("coordinator.pem", leaf.chain_pem);
    write("coordinator.key", leaf.key_pem);
    write("coordinator.json", dump_json({{"domain", kDomain},
                                         {"state_dir", folder_ + "/state"},
                                         {"listen", "127.0.0.1:0"},
                                         {"url", "https://" + std::string(kHost)},
                                         {"identity",
                                          {{"root_file", folder_ + "/root.pem"},
                                           {"issuing_ca_file", folder_ + "/issuing.pem"},
                                           {"issuing_ca_key_file", folder_ + "/issuing.key"},
                                           {"certificate_file", folder_ + "/coordinator.pem"},
                                           {"private_key_file", folder_ + "/coordinator.key"}}}}));
  }

  Leaf make(IdentityKind kind, const std::vector<std::string>& dns = {}) {
    LeafRequest request;
    request.identity.kind = kind;
    request.identity.domain = kDomain;
    request.identity.name = "bench";
    KeyPair key = generate_key();
    request.csr_pem = make_csr(key.private_key_pem).value();
    request.validity = days(10);
    request.dns_names = dns;
    return {issue_leaf(issuing_, request).value(), key.private_key_pem};
  }

  Anchors anchors() const { return {root_.certificate_pem, kDomain, {}}; }

 private:
  Validity days(int64_t count) {
    return {clock_.now_ms() - kDayMs, clock_.now_ms() + count * kDayMs};
  }
  void write(const std::string& name, const std::string& text) {
    write_file_atomic(folder_ + "/" + name, text, 0600).value();
  }

  std::string folder_;
  SystemClock clock_;
  CaKey root_, issuing_;
};

// One caller with its kept connection.
class Client {
 public:
  Client(Anchors anchors, Leaf leaf, int64_t port)
      : anchors_(std::move(anchors)), leaf_(std::move(leaf)), port_(port) {}

  test::Answer send(const std::string& method, const std::string& target, const std::string& text,
                    const std::string& instance = "") {
    HttpRequest request{method, "https://" + std::string(kHost) + target, {}, text};
    if (!text.empty()) request.headers = {{"Content-Type", "application/json"}};
    if (!instance.empty()) request.headers.emplace_back("X-Leasehold-Instance", instance);
    HttpOptions options;
    options.timeout_ms = 60'000;
    options.connect_to = "127.0.0.1:" + std::to_string(port_);
    options.fresh_connection = false;
    options.repeatable = true;
    options.tls.connection_key = "bench";
    options.tls.certificate_chain_pem = leaf_.chain_pem;
    options.tls.private_key_pem = leaf_.key_pem;
    options.tls.judge = [this](const std::vector<std::string>& chain) -> Status {
      JudgeRequest judged{chain, clock_.now_ms(), Verb::kSyncRows, kHost, false};
      Judgement judgement = judge(judged, anchors_);
      if (judgement.allowed) return {};
      return Error(Code::kForbidden, judgement.detail);
    };
    HttpResponse response = http_.send(request, options).value();
    return {response.status, parse_json(response.body, 64 << 20).value_or(Json()), response.body};
  }
  Json must(const std::string& method, const std::string& target, const Json& body) {
    test::Answer answer = send(method, target, body.is_null() ? "" : dump_json(body));
    LEASEHOLD_CHECK(answer.status / 100 == 2, target + ": " + answer.text);
    return answer.body;
  }

 private:
  Anchors anchors_;
  Leaf leaf_;
  int64_t port_;
  SystemClock clock_;
  CurlEasyClient http_;
};

Leaf enrol(Client& admin) {
  auto csr = [] { return make_csr(generate_key().private_key_pem).value(); };
  admin.must("POST", "/v1/sites", {{"site", "s1"}});
  Json token = admin.must("POST", "/v1/sites/s1/token", Json::object());
  KeyPair key = generate_key();
  Json answer = admin.must("POST", "/v1/sites/s1/enrol",
                           {{"token", json_text(token, "token")},
                            {"siteAgentCsr", make_csr(key.private_key_pem).value()},
                            {"gatewayCsr", csr()},
                            {"siteCaCsr", csr()}});
  return {json_text(answer, "siteAgent"), key.private_key_pem};
}

// Reads the feed until `count` rows of the bench were seen: how long each took, in milliseconds.
std::vector<double> read_feed(Client& reader, size_t count) {
  std::vector<double> took_ms;
  int64_t after = 0;
  while (took_ms.size() < count) {
    Json page = reader.must("GET", "/v1/events?wait=20&after=" + std::to_string(after), {});
    const int64_t seen_us = now_us();
    for (const Json& event : page["events"]) {
      if (json_text(event, "name") != "bench.row") continue;
      took_ms.push_back(static_cast<double>(seen_us - event["sentUs"].get<int64_t>()) / 1000);
    }
    after = page["next"].get<int64_t>();
  }
  return took_ms;
}

std::vector<double> measure(const std::string& folder, const std::string& program, size_t rows,
                            int every_ms) {
  Authority authority(folder);
  test::RunningProgram coordinator({program, "serve", "--config", folder + "/coordinator.json"},
                                   folder + "/log");
  Json started = coordinator.await_event("program.started");
  LEASEHOLD_CHECK(started.is_object(), "the coordinator does not start: " + coordinator.log());
  const int64_t port = started["port"].get<int64_t>();
  const Leaf operator_leaf = authority.make(IdentityKind::kOperator);
  Client admin(authority.anchors(), operator_leaf, port);
  Client agent(authority.anchors(), enrol(admin), port);
  test::FakeSite site(
      [&](const std::string& method, const std::string& target, const std::string& text) {
        return agent.send(method, target, text, "i-bench");
      },
      folder, "i-bench", "s1");
  site.meet();
  site.sync();
  std::vector<double> took_ms;
  Client feed(authority.anchors(), operator_leaf, port);
  std::thread reader([&] { took_ms = read_feed(feed, rows); });
  for (size_t i = 0; i < rows; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(every_ms));
    site.put(
        event_row("e-" + std::to_string(i), "bench.row", NodeId("n1"), 0, {{"sentUs", now_us()}}));
    site.push_all();
  }
  reader.join();
  return took_ms;
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder;
  int rows = 1'000, every_ms = 5;
  std::optional<int> exit_code = parse_options(
      argc, argv, "From a site's commit to an operator's eyes",
      {{"--dir", "folder on the disk to measure (default: beside the program)", &folder, false}},
      {{"--rows", "rows, one after another", &rows, 100, 100'000},
       {"--every", "milliseconds between two of them", &every_ms, 0, 1000}});
  if (exit_code) return *exit_code;
  const std::filesystem::path here = std::filesystem::canonical("/proc/self/exe").parent_path();
  if (folder.empty()) folder = here.string();
  std::string form = folder + "/sync-bench-XXXXXX";
  LEASEHOLD_CHECK(::mkdtemp(form.data()) != nullptr, "cannot create a folder in " + folder);
  std::vector<double> took_ms =
      measure(form, (here.parent_path() / "leasehold-coordinator").string(),
              static_cast<size_t>(rows), every_ms);
  std::filesystem::remove_all(form);
  std::sort(took_ms.begin(), took_ms.end());
  const double p99 = took_ms[took_ms.size() * 99 / 100];
  std::printf("%s\n", dump_json({{"figure", "sync.visible_p99_ms"},
                                 {"value", std::round(p99 * 1000) / 1000},
                                 {"unit", "ms"},
                                 {"goal", kGoalMs},
                                 {"limit", nullptr}})
                          .c_str());
  std::fprintf(stderr,
               "row visible       p50 %8.2f ms   p99 %8.2f ms   max %8.2f ms (goal p99 %.0f)\n",
               took_ms[took_ms.size() / 2], p99, took_ms.back(), kGoalMs);
  return 0;
}
