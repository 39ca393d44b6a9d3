// A coordinator for the command's tests: answers over a real HTTPS socket what it was told to, and
// remembers what it was asked. Bench holds one of each: certificates, server, console, session.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <sstream>

#include "coordinator/cli/session.h"
#include "core/curl/http_client.h"
#include "tests/support/evidence_fixture.h"
#include "tests/unit/core/loop/support.h"

namespace leasehold::test {

// Time stands still but for sleeping, and for what a long poll would have taken.
class BenchClock : public Clock {
 public:
  int64_t now_ms() override { return kNow + monotonic_ms(); }
  int64_t monotonic_ms() override { return monotonic_ms_; }
  void sleep_ms(int64_t duration_ms) override { monotonic_ms_ += duration_ms; }

 private:
  std::atomic<int64_t> monotonic_ms_{0};
};

inline LeafRequest leaf_of(IdentityKind kind, const KeyPair& key) {
  LeafRequest request;
  request.identity.kind = kind;
  request.identity.domain = "example.net";
  request.identity.name = "ann";
  if (kind == IdentityKind::kSiteAgent) {
    request.identity.name = "";
    request.identity.site = "s1";
  }
  request.csr_pem = make_csr(key.private_key_pem).value();
  request.validity = around_now(kHour, 24 * kHour);
  return request;
}

class FakeApi {
 public:
  // `leaf` is what the server shows.
  FakeApi(const CaKey& issuer, const LeafRequest& leaf, const KeyPair& key) {
    HttpServerOptions options = on_any_port();
    options.tls = true;
    options.tls_config.certificate_chain_pem = issue_leaf(issuer, leaf).value();
    options.tls_config.private_key_pem = key.private_key_pem;
    options.tls_config.ask_client_certificate = true;
    server_ = std::make_unique<ServerUnderTest>(
        thread_, options, [this](const ServerRequest& request, const Responder& respond) {
          if (is_away()) return server_->server().abort(request.connection, true);
          respond(answer_to(request));
        });
  }
  std::string port() const { return std::to_string(server_->port()); }

  // `what` is "GET /v1/nodes/s1/n1", with or without its query; told more than once, the answers
  // are given one after another and the last for ever.
  void answer(const std::string& what, const Json& body, int status = 200) {
    std::lock_guard<std::mutex> lock(mutex_);
    answers_[what].push_back(json_response(status, dump_json(body)));
  }
  void refuse(const std::string& what, const Error& error) {
    std::lock_guard<std::mutex> lock(mutex_);
    answers_[what].push_back(error_response(error));
  }
  void answer_raw(const std::string& what, HttpResponse response) {
    std::lock_guard<std::mutex> lock(mutex_);
    answers_[what].push_back(std::move(response));
  }
  // After `calls` more calls the next `count` are broken off, as by a restart.
  void away_for(int calls, int count) {
    std::lock_guard<std::mutex> lock(mutex_);
    until_away_ = calls;
    away_ = count;
  }
  // "POST /v1/sites {\"site\":\"s1\"}", in order.
  std::vector<std::string> asked() {
    std::lock_guard<std::mutex> lock(mutex_);
    return asked_;
  }
  size_t client_chain() {
    std::lock_guard<std::mutex> lock(mutex_);
    return client_chain_;
  }

 private:
  bool is_away() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (until_away_-- > 0 || away_ == 0) return false;
    --away_;
    return true;
  }
  HttpResponse answer_to(const ServerRequest& request) {
    std::lock_guard<std::mutex> lock(mutex_);
    const std::string bare = request.method + " " + request.path;
    const std::string whole = bare + (request.query.empty() ? "" : "?" + request.query);
    asked_.push_back(whole + (request.body.empty() ? "" : " " + request.body));
    client_chain_ = request.peer_chain_der.size();
    auto found = answers_.find(whole);
    if (found == answers_.end()) found = answers_.find(bare);
    if (found == answers_.end()) return error_response(Error(Code::kNotFound, "nothing there"));
    HttpResponse response = found->second.front();
    if (found->second.size() > 1) found->second.pop_front();
    return response;
  }

  std::mutex mutex_;
  std::map<std::string, std::deque<HttpResponse>> answers_;
  std::vector<std::string> asked_;
  size_t client_chain_ = 0;
  int until_away_ = 0;
  int away_ = 0;
  LoopThread thread_;
  std::unique_ptr<ServerUnderTest> server_;
};

struct Bench {
  Pki pki = make_pki();
  KeyPair key = generate_key();
  FakeApi coordinator{pki.issuing, server_leaf(), key};
  BenchClock clock;
  std::ostringstream out, err;
  std::istringstream answers;
  Console console{out, err, nullptr, 0, false, clock};
  CurlEasyClient http;
  ApiClient api{config(), http, clock};
  Session session{console, api};

  Bench() { coordinator.answer("GET /v1/sites", {{"items", {{{"site", "s1"}}}}, {"next", ""}}); }

  LeafRequest server_leaf(IdentityKind kind = IdentityKind::kCoordinator) const {
    LeafRequest leaf = leaf_of(kind, key);
    leaf.ip_addresses = {"127.0.0.1"};
    return leaf;
  }
  ClientConfig config() const {
    ClientConfig made;
    made.file = "config.json";
    made.url = "https://127.0.0.1:" + coordinator.port();
    made.host = "127.0.0.1";
    made.domain = "example.net";
    made.root_file = "root.pem";
    made.root_pem = pki.root.certificate_pem;
    made.certificate_chain_pem =
        issue_leaf(pki.issuing, leaf_of(IdentityKind::kOperator, key)).value();
    made.private_key_pem = key.private_key_pem;
    made.own.not_after_ms = kNow + 24 * kHour;
    return made;
  }
  // What was printed since the last call.
  std::string printed() {
    std::string text = out.str();
    out.str("");
    return text;
  }
  std::string noted() {
    std::string text = err.str();
    err.str("");
    return text;
  }
  Json printed_json() { return parse_json(printed()).value(); }
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline Json node_row(const std::string& node, const Json& changes = Json::object()) {
  Json row = {{"site", "s1"},
              {"node", node},
              {"pool", "metal-dedicated"},
              {"state", "ready"},
              {"failedFrom", ""},
              {"maintenance", false},
              {"trust", "platform"},
              {"generation", 8},
              {"tenantRoot", false},
              {"lease", ""},
              {"powerOffOwed", false},
              {"cordon", false},
              {"taints", Json::array()},
              {"labels", Json::object()},
              {"location", ""},
              {"clearance", "clean"},
              {"placeable", true},
              {"failure", nullptr},
              {"openRun", ""}};
  row.update(changes);
  return row;
}

}  // namespace leasehold::test
