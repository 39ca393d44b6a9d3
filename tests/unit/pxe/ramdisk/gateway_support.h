// A tiny boot service and gateway with a certificate authority of their own, and the real program
// leasehold-ramdisk started against them. For the tests of this folder.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/evidence/dsse.h"
#include "core/evidence/result_verifier.h"
#include "tests/unit/core/loop/support.h"
#include "tests/unit/pxe/ramdisk/support.h"

namespace leasehold::test {

// Root, issuing CA and site CA of site s1, and its daemons' leaves.
struct TestSite {
  TestSite() {
    SystemClock clock;
    validity = {clock.now_ms() - 60'000, clock.now_ms() + 3'600'000};
    root = issue_root("example.net", validity).value();
    issuing = issue_issuing_ca(root, "example.net", validity).value();
    site_ca = issue_site_ca(issuing, "s1", "example.net", validity).value();
    gateway = daemon(IdentityKind::kGateway, "s1");
    agent = daemon(IdentityKind::kSiteAgent, "s1");
    other_agent = daemon(IdentityKind::kSiteAgent, "s2");
  }

  struct Daemon {
    std::string key, chain;
  };
  Daemon daemon(IdentityKind kind, const std::string& site) const {
    Daemon made{generate_key().private_key_pem, ""};
    LeafRequest request;
    request.identity.kind = kind;
    request.identity.domain = "example.net";
    request.identity.site = site;
    request.csr_pem = make_csr(made.key).value();
    request.validity = validity;
    if (kind == IdentityKind::kGateway) request.dns_names = {"gateway.s1.example.net"};
    made.chain = issue_leaf(issuing, request).value();
    return made;
  }
  std::vector<std::string> ramdisk_chain(const std::string& csr) const {
    LeafRequest request;
    request.identity.kind = IdentityKind::kRamdisk;
    request.identity.domain = "example.net";
    request.identity.site = "s1";
    request.identity.node = "n1";
    request.identity.generation = 7;
    request.identity.run = "r-1";
    request.csr_pem = csr;
    request.validity = validity;
    return split_chain(issue_leaf(site_ca, request).value()).value();
  }
  Anchors anchors() const {
    return {root.certificate_pem,
            "example.net",
            {{"s1", certificate_sha256(site_ca.certificate_pem).value()}}};
  }

  Validity validity;
  CaKey root, issuing, site_ca;
  Daemon gateway, agent, other_agent;
};

enum class Hello { kRight, kUnavailable, kOtherNonce, kSignedByGateway, kOtherSite };

// Boot service and gateway on one loop. What it is told and what it saw is under one mutex.
class TinyGateway {
 public:
  explicit TinyGateway(const TestSite& site)
      : site_(site),
        boot_(thread_, on_any_port(), [this](const auto& r, Responder a) { boot(r, a); }),
        gateway_(thread_, tls_options(), [this](const auto& r, Responder a) { serve(r, a); }) {}

  std::string run_url() const { return boot_.url("/run/b-1"); }
  std::string token() const { return base64_encode(token_); }

  // Told before the program starts, or while it runs.
  void add_command(const std::string& id, const std::string& verb, const Json& args,
                   const std::string& run = "r-1") {
    std::lock_guard lock(mutex_);
    ResultContext context = this->context();
    context.run = run;
    commands_.push_back({{"n", commands_.size() + 1},
                         {"command", id},
                         {"run", run},
                         {"verb", verb},
                         {"nonce", base64_encode("nonce of " + id)},
                         {"context", context.to_json()},
                         {"args", args}});
  }
  void answer_hellos(std::vector<Hello> hellos) { hellos_ = std::move(hellos); }
  void fail_results(int count) { failing_results_ = count; }

  ResultContext context() const {
    ResultContext context;
    context.site = "s1";
    context.node = "n1";
    context.generation = 7;
    context.lease = "l-1";
    context.run = "r-1";
    context.place = "disk.wipe";
    context.boot_nonce = base64_encode("boot nonce");
    context.binding = "network";
    context.image = std::string(64, 'a');
    context.policy_revision = 3;
    return context;
  }

  // Bodies of POST /v1/results in the order they came, those answered 503 among them.
  std::vector<std::string> results() {
    std::lock_guard lock(mutex_);
    return results_;
  }
  std::atomic<int> run_requests{0}, hello_requests{0}, join_requests{0}, good_joins{0};
  std::atomic<int> uncertified_requests{0};  // that should have come with the ramdisk's leaf
  std::atomic<int> run_status{200};

 private:
  HttpServerOptions tls_options() const {
    HttpServerOptions options = on_any_port();
    options.tls = true;
    options.tls_config.certificate_chain_pem = site_.gateway.chain;
    options.tls_config.private_key_pem = site_.gateway.key;
    options.tls_config.ask_client_certificate = true;
    return options;
  }

  void boot(const ServerRequest& request, Responder& answer) {
    ++run_requests;
    if (request.path != "/run/b-1" || run_status != 200) {
      return answer(json_response(run_status == 200 ? 404 : run_status.load(), "{}"));
    }
    answer(json_response(200, dump_json({{"schema", 1},
                                         {"site", "s1"},
                                         {"domain", "example.net"},
                                         {"node", "n1"},
                                         {"run", "r-1"},
                                         {"boot", "b-1"},
                                         {"gateway",
                                          {{"host", "gateway.s1.example.net"},
                                           {"address", "127.0.0.1"},
                                           {"port", gateway_.port()}}},
                                         {"token", token()}})));
  }

  void serve(const ServerRequest& request, Responder& answer) {
    std::lock_guard lock(mutex_);
    Json body = parse_json(request.body).value_or(Json());
    if (request.path == "/v1/hello") return hello(json_text(body, "nonce"), answer);
    if (request.path == "/v1/join") return join(body, answer);
    if (request.peer_chain_der.empty()) {
      ++uncertified_requests;
      return answer(json_response(401, "{}"));
    }
    if (request.path == "/v1/results") return result(request.body, answer);
    if (request.path == "/v1/telemetry") return answer(json_response(200, "{}"));
    commands(std::stoul(query_value(request.query, "after")), answer);
  }

  void hello(std::string nonce, Responder& answer) {
    size_t number = static_cast<size_t>(hello_requests++);
    Hello kind = number < hellos_.size() ? hellos_[number] : Hello::kRight;
    if (kind == Hello::kUnavailable) return answer(json_response(503, "{}"));
    if (kind == Hello::kOtherNonce) nonce = base64_encode(std::string(32, 'n'));
    const TestSite::Daemon& signer = kind == Hello::kSignedByGateway ? site_.gateway
                                     : kind == Hello::kOtherSite     ? site_.other_agent
                                                                     : site_.agent;
    SystemClock clock;
    Json payload = {{"nonce", nonce},
                    {"site", kind == Hello::kOtherSite ? "s2" : "s1"},
                    {"time", format_time(clock.now_ms())}};
    SignedEnvelope hello;
    hello.envelope = dsse_sign(signer.key, kHelloPayloadType, dump_json(payload)).value();
    hello.chain_pem = split_chain(signer.chain).value();
    answer(json_response(200, dump_json(hello.to_json())));
  }

  void join(const Json& body, Responder& answer) {
    ++join_requests;
    std::string csr = json_text(body, "csr");
    Result<std::string> der = csr_der(csr);
    bool good = der.ok() && json_text(body, "run") == "r-1" && json_text(body, "boot") == "b-1" &&
                json_text(body, "mac") == hex_encode(hmac_sha256(token_, der.value()));
    if (!good) return answer(json_response(403, "{}"));
    ++good_joins;
    answer(json_response(200, dump_json({{"chain", site_.ramdisk_chain(csr)},
                                         {"boot_nonce", base64_encode("boot nonce")}})));
  }

  void commands(size_t after, Responder& answer) {
    Json list = Json::array();
    for (size_t i = after; i < commands_.size(); ++i) list.push_back(commands_[i]);
    std::string text = dump_json({{"commands", list}});
    // The long poll, made short.
    auto send = [answer, text] { answer(json_response(200, text)); };
    thread_.loop().after(list.empty() ? 20 : 0, send);
  }

  void result(const std::string& body, Responder& answer) {
    results_.push_back(body);
    if (failing_results_ > 0) {
      --failing_results_;
      return answer(json_response(503, "{}"));
    }
    answer(json_response(200, "{}"));
  }

  const TestSite& site_;
  const std::string token_ = std::string(32, 'T');
  std::mutex mutex_;
  std::vector<Hello> hellos_;
  std::vector<Json> commands_;
  std::vector<std::string> results_;
  int failing_results_ = 0;
  LoopThread thread_;
  ServerUnderTest boot_;
  ServerUnderTest gateway_;
};

// The real program on a FakeMachine; killed, by its pid, at the end.
class RamdiskProcess {
 public:
  RamdiskProcess(const FakeMachine& machine, const TestSite& site, const std::string& run_url)
      : log_(machine.folder + "/log") {
    machine.file("proc/cmdline", "quiet leasehold.run=" + run_url + "\n");
    machine.file("etc/leasehold/root.pem", site.root.certificate_pem);
    machine.file("etc/leasehold/image.json", R"({"domain":"example.net","site":"s1","image":""})");
    std::string program = std::string(LEASEHOLD_BIN_DIR) + "/leasehold-ramdisk";
    std::string root = machine.folder + "/root";
    std::string log = log_;
    pid_ = ::fork();
    if (pid_ == 0) {
      int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      ::dup2(fd, 1);
      ::dup2(fd, 2);
      ::execl(program.c_str(), program.c_str(), "--root", root.c_str(), nullptr);
      ::_exit(127);
    }
  }
  ~RamdiskProcess() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  // The exit status once it has ended, -1 while it runs.
  int ended() {
    int status = 0;
    if (pid_ <= 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return -1;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }
  std::string log() const { return read_file(log_, 1 << 20).value_or(""); }

 private:
  std::string log_;
  pid_t pid_ = -1;
};

}  // namespace leasehold::test
