// A coordinator made by hand, on a real socket with real certificates: it answers the doors of
// docs/coordinator-api.md section 2 as a test tells it to, and remembers what it was asked. Tests
// only. What it does not know it answers with NOT_FOUND.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <mutex>
#include <vector>

#include "core/curl/http_client.h"
#include "core/tls/crypto.h"
#include "core/tls/x509.h"
#include "tests/unit/core/loop/support.h"

namespace leasehold::test {

inline constexpr int64_t kHourMs = 3'600'000;

// A root and what hangs under it, valid now.
struct LiveAuthority {
  SystemClock clock;
  Validity validity{clock.now_ms() - kHourMs, clock.now_ms() + 24 * kHourMs};
  std::string domain = "example.net";
  CaKey root = issue_root(domain, validity).value();
  CaKey issuing = issue_issuing_ca(root, domain, validity).value();

  std::string root_sha256() const { return certificate_sha256(root.certificate_pem).value(); }
  Anchors anchors() const { return {root.certificate_pem, domain, {}}; }
  Identity identity(IdentityKind kind, const std::string& name) const {
    Identity made;
    made.kind = kind;
    made.domain = domain;
    bool of_site = kind == IdentityKind::kSiteAgent || kind == IdentityKind::kGateway;
    (of_site ? made.site : made.name) = name;
    return made;
  }
  // Chain PEM.
  std::string leaf(const Identity& who, const std::string& csr_pem,
                   const std::vector<std::string>& dns = {},
                   const std::vector<std::string>& ips = {}) const {
    LeafRequest request;
    request.identity = who;
    request.csr_pem = csr_pem;
    request.validity = validity;
    request.dns_names = dns;
    request.ip_addresses = ips;
    return issue_leaf(issuing, request).value();
  }
};

class FakeCentre {
 public:
  using Answer = std::function<HttpResponse(const ServerRequest&, const Json& body)>;
  using Door = std::function<void(const ServerRequest&, const Json& body, Responder)>;

  // `kind` and `host`: what its certificate says it is.
  explicit FakeCentre(const LiveAuthority& authority,
                      IdentityKind kind = IdentityKind::kCoordinator,
                      const std::string& host = "coordinator.example.net", uint16_t port = 0)
      : authority_(authority) {
    KeyPair key = generate_key();
    std::string name = kind == IdentityKind::kCoordinator ? "coordinator" : "s9";
    HttpServerOptions options = on_any_port();
    options.tcp_port = port;
    options.tls = true;
    options.tls_config.ask_client_certificate = true;
    options.tls_config.private_key_pem = key.private_key_pem;
    options.tls_config.certificate_chain_pem = authority.leaf(
        authority.identity(kind, name), make_csr(key.private_key_pem).value(), {host});
    options.max_body_bytes = 32 << 20;
    server_ = std::make_unique<ServerUnderTest>(
        thread_, options,
        [this](const ServerRequest& request, Responder respond) { handle(request, respond); });
    answer("/v1/root", [this](const ServerRequest&, const Json&) {
      return json_response(200, dump_json(Json{{"root", authority_.root.certificate_pem},
                                               {"domain", authority_.domain}}));
    });
  }

  void answer(const std::string& path, Answer how) {
    door(path, [how = std::move(how)](const ServerRequest& request, const Json& body,
                                      const Responder& respond) { respond(how(request, body)); });
  }
  // Answered later, from on_loop().
  void door(const std::string& path, Door how) {
    std::lock_guard lock(mutex_);
    doors_[path] = std::move(how);
  }
  void on_loop(const std::function<void()>& task) { thread_.on_loop(task); }
  // Every body that came to that path.
  std::vector<Json> asked(const std::string& path) const {
    std::lock_guard lock(mutex_);
    auto found = asked_.find(path);
    return found == asked_.end() ? std::vector<Json>() : found->second;
  }
  std::string url() const { return "https://coordinator.example.net:" + port(); }
  std::string address() const { return "127.0.0.1:" + port(); }
  std::string port() const { return std::to_string(server_->port()); }
  uint16_t port_number() const { return server_->port(); }

 private:
  void handle(const ServerRequest& request, const Responder& respond) {
    Json body = parse_json(request.body, 32 << 20).value_or(Json());
    Door how;
    {
      std::lock_guard lock(mutex_);
      asked_[request.path].push_back(body);
      auto found = doors_.find(request.path);
      if (found != doors_.end()) how = found->second;
    }
    if (how) return how(request, body, respond);
    respond(error_response(Error(Code::kNotFound, "the fake coordinator has no such door")));
  }

  const LiveAuthority& authority_;
  mutable std::mutex mutex_;
  std::map<std::string, Door> doors_;
  std::map<std::string, std::vector<Json>> asked_;
  LoopThread thread_;
  std::unique_ptr<ServerUnderTest> server_;
};

}  // namespace leasehold::test
