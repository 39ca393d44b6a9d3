#include "agent/sync/site_join.h"

#include <algorithm>
#include <filesystem>

#include "agent/sync/answers.h"
#include "agent/sync/identity_files.h"
#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/log.h"
#include "core/tls/ca_files.h"
#include "core/tls/crypto.h"

namespace leasehold {
namespace {

constexpr int64_t kCallMs = 30'000;

struct Keys {
  std::string site_agent = generate_key().private_key_pem;
  std::string gateway = generate_key().private_key_pem;
  std::string site_ca = generate_key().private_key_pem;
};

// As openssl prints it ("AA:BB:...") or as we do.
Result<std::string> fingerprint(const std::string& text) {
  std::string hex;
  for (char c : text) {
    if (c == ':') continue;
    hex += c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (hex.size() == 64 && hex_decode(hex).ok()) return hex;
  return Error(Code::kInvalidInput, "the root's SHA-256 has 64 hex digits", "root-sha256");
}

class Joining {
 public:
  Joining(const SiteJoinOptions& options, HttpClient& http, Clock& clock)
      : options_(options), http_(http), clock_(clock) {}

  Status check() {
    TRY(SiteId::parse(options_.site, "site"));
    place_ = TRY(parse_coordinator_place(options_.coordinator, options_.address));
    root_sha256_ = TRY(fingerprint(options_.root_sha256));
    if (options_.token.empty()) return Error(Code::kInvalidInput, "the token is empty", "token");
    log_scrub(options_.token);
    return {};
  }

  // The root over a connection whose server cannot be judged before it is there.
  Status fetch_root() {
    std::vector<std::string> server;
    HttpOptions http = call_options();
    http.tls.judge = [&server](const std::vector<std::string>& chain) -> Status {
      server = chain;
      return {};
    };
    Json answer = TRY(send("GET", "/v1/root", "", http));
    anchors_.root_pem = TRY(json_string(answer, "root"));
    anchors_.domain = TRY(json_string(answer, "domain"));
    if (!is_valid_host_name(anchors_.domain)) {
      return Error(Code::kMalformed, "the coordinator's domain is no host name");
    }
    Result<std::string> digest = certificate_sha256(anchors_.root_pem);
    if (!digest.ok() || !equal_constant_time(digest.value(), root_sha256_)) {
      return Error(Code::kForbidden,
                   "the root certificate that " + place_.url +
                       " shows is not the one with the given SHA-256; the token was not sent. "
                       "Compare the fingerprint, or somebody is in between",
                   "root-sha256");
    }
    return judge_coordinator(server, place_, anchors_, clock_.now_ms());
  }

  Result<Json> enrol(const Keys& keys) {
    Json request = Json::object();
    request["token"] = options_.token;
    request["siteAgentCsr"] = TRY(make_csr(keys.site_agent));
    request["gatewayCsr"] = TRY(make_csr(keys.gateway));
    request["siteCaCsr"] = TRY(make_csr(keys.site_ca));
    request["gatewayDns"] = options_.gateway_dns;
    request["gatewayIps"] = options_.gateway_ips;
    HttpOptions http = call_options();
    http.tls.judge = [this](const std::vector<std::string>& chain) {
      return judge_coordinator(chain, place_, anchors_, clock_.now_ms());
    };
    return send("POST", "/v1/sites/" + options_.site + "/enrol", dump_json(request), http);
  }

  const CoordinatorPlace& place() const { return place_; }
  const Anchors& anchors() const { return anchors_; }

 private:
  HttpOptions call_options() const {
    HttpOptions http;
    http.timeout_ms = kCallMs;
    http.connect_to = place_.address;
    http.max_body_bytes = limits::kHttpBodyBytes;
    return http;
  }

  Result<Json> send(const std::string& method, const std::string& path, std::string body,
                    const HttpOptions& http) {
    HttpRequest request;
    request.method = method;
    request.url = place_.url + path;
    if (!body.empty()) request.headers = {{"Content-Type", "application/json"}};
    request.body = std::move(body);
    HttpResponse response = TRY_WITH(http_.send(request, http), "the coordinator at " + place_.url);
    return answer_of(response);
  }

  const SiteJoinOptions& options_;
  HttpClient& http_;
  Clock& clock_;
  CoordinatorPlace place_;
  std::string root_sha256_;
  Anchors anchors_;
};

Result<std::string> text_of(const Json& answer, const std::string& key) {
  Result<std::string> text = json_string(answer, key);
  if (text.ok()) return text;
  return Error(Code::kMalformed, "the coordinator's answer lacks \"" + key + "\"");
}

Status write_answer(NewFolder& folder, const Json& answer, const Anchors& anchors) {
  Json site_cas = TRY(json_object(answer, "siteCas"));
  TRY(folder.write({"root.pem", anchors.root_pem}));
  TRY(folder.write({"site-cas.json", dump_json_pretty(site_cas) + "\n"}));
  const std::pair<const char*, const char*> chains[] = {
      {"siteCa", "site-ca.pem"}, {"siteAgent", "site-agent.pem"}, {"gateway", "gateway.pem"}};
  for (const auto& [member, name] : chains) {
    std::string chain = TRY(text_of(answer, member));
    TRY(folder.write({name, chain}));
  }
  return {};
}

Status check_leaf(const LeafFiles& leaf, const Anchors& anchors, IdentityKind kind,
                  const SiteJoinOptions& options, int64_t now_ms) {
  JudgeRequest request;
  request.chain_der = TRY(pem_to_der(leaf.certificate_chain_pem));
  request.instant_ms = now_ms;
  request.verb = kind == IdentityKind::kGateway ? Verb::kServeGateway : Verb::kSyncRows;
  std::vector<std::string> hosts = {""};
  if (kind == IdentityKind::kGateway) {
    hosts = options.gateway_dns;
    hosts.insert(hosts.end(), options.gateway_ips.begin(), options.gateway_ips.end());
  }
  for (const std::string& host : hosts) {
    request.host = host;
    Judgement judgement = judge(request, anchors);
    if (!judgement.allowed || judgement.identity.kind != kind ||
        judgement.identity.site != options.site) {
      return Error(Code::kMalformed, "the coordinator's certificate for the " +
                                         std::string(kind_name(kind)) +
                                         " is not what was asked for: " + judgement.detail);
    }
  }
  return {};
}

// Everything as the daemons will read it: keys and certificates belong together, the site CA is the
// recorded one, and each leaf is judged as its peer will.
Status check_files(const NewFolder& folder, const SiteJoinOptions& options, const Anchors& shown,
                   int64_t now_ms) {
  auto path = [&](const char* name) { return folder.path(name); };
  Anchors anchors = TRY(read_anchors(path("root.pem"), path("site-cas.json"), shown.domain));
  CaKey site_ca = TRY(read_ca_key(path("site-ca.pem"), path("site-ca.key")));
  LeafFiles agent = TRY(read_leaf(path("site-agent.pem"), path("site-agent.key")));
  LeafFiles gateway = TRY(read_leaf(path("gateway.pem"), path("gateway.key")));
  std::string site_ca_sha256 = TRY(certificate_sha256(site_ca.certificate_pem));
  std::pair recorded(options.site, site_ca_sha256);
  if (std::find(anchors.site_cas.begin(), anchors.site_cas.end(), recorded) ==
      anchors.site_cas.end()) {
    return Error(Code::kMalformed, "the coordinator did not record the site CA that it issued");
  }
  TRY(check_leaf(agent, anchors, IdentityKind::kSiteAgent, options, now_ms));
  return check_leaf(gateway, anchors, IdentityKind::kGateway, options, now_ms);
}

}  // namespace

Result<Json> site_join(const SiteJoinOptions& options, HttpClient& http, Clock& clock,
                       Random& random) {
  Joining joining(options, http, clock);
  TRY(joining.check());
  // The folder and the keys first: a full disk must not cost the token.
  NewFolder folder = TRY(NewFolder::make(options.out, random));
  Keys keys;
  TRY(folder.write({"site-agent.key", keys.site_agent}));
  TRY(folder.write({"gateway.key", keys.gateway}));
  TRY(folder.write({"site-ca.key", keys.site_ca}));
  TRY(joining.fetch_root());
  Json answer = TRY(joining.enrol(keys));
  TRY(write_answer(folder, answer, joining.anchors()));
  TRY(check_files(folder, options, joining.anchors(), clock.now_ms()));
  TRY(folder.publish());
  std::error_code ignored;
  std::string where = std::filesystem::absolute(folder.out(), ignored).string();
  Json coordinator = {{"url", joining.place().url}};
  if (!options.address.empty()) coordinator["address"] = options.address;
  Json members = Json::object();
  members["site"] = options.site;
  members["domain"] = joining.anchors().domain;
  members["identity"] = identity_member(where);
  members["coordinator"] = coordinator;
  return members;
}

}  // namespace leasehold
