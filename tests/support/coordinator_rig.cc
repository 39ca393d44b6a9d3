#include "tests/support/coordinator_rig.h"

#include <chrono>
#include <stdexcept>

#include "coordinator/store/schema.h"
#include "core/db/row_store.h"
#include "core/sync/position.h"

namespace leasehold::test {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

std::string joined(const std::vector<std::string>& pems) {
  std::string chain;
  for (const std::string& pem : pems) chain += pem;
  return chain;
}

Answer answer_of(const HttpResponse& response) {
  Answer answer;
  answer.status = response.status;
  answer.text = response.body;
  answer.body = parse_json(response.body, 64 << 20).value_or(Json());
  return answer;
}

}  // namespace

CoordinatorRig::CoordinatorRig(const std::string& vfs) : vfs_(vfs) {
  Signer leaf = pki.sign_in(coordinator_identity());
  config.domain = "example.net";
  config.url = "https://coordinator.example.net:8440";
  config.state_dir = folder.path();
  config.root_pem = pki.root.certificate_pem;
  config.root_sha256 = certificate_sha256(config.root_pem).value();
  config.issuing = pki.issuing;
  config.leaf = {joined(leaf.chain_pem), leaf.key.private_key_pem};
  authority = std::make_unique<CertificateAuthority>(config.issuing, config.domain, clock);
  admin = of(IdentityKind::kOperator);
  open();
}

CoordinatorRig::~CoordinatorRig() { database.reset(); }

void CoordinatorRig::open() {
  Database::Options options;
  options.path = folder.file("coordinator.db");
  options.vfs = vfs_;
  options.deliver = [this](std::function<void()> task) { loop.post(std::move(task)); };
  database = Database::open(std::move(options), [this](Sql& sql) -> Status {
               TRY(row_store::migrate(sql, random, RowOwner::kCoordinator));
               TRY(sync::migrate(sql));
               return store::migrate(sql);
             }).value();
  context = {&config, authority.get(), &clock, &random, random_id(random, "start")};
  api = std::make_unique<Api>(loop, *database, context);
  api->start().value();
}

void CoordinatorRig::restart() {
  database.reset();
  api.reset();
  open();
}

Signer CoordinatorRig::of(IdentityKind kind, const std::string& site) const {
  Identity identity;
  identity.kind = kind;
  identity.domain = config.domain;
  const bool of_node = kind == IdentityKind::kNode || kind == IdentityKind::kNodeTenant ||
                       kind == IdentityKind::kRamdisk;
  if (of_node || kind == IdentityKind::kSiteAgent || kind == IdentityKind::kGateway) {
    identity.site = site;
  } else {
    identity.name = "admin";
  }
  if (of_node) {
    identity.node = "n1";
    identity.generation = 4;
  }
  if (kind == IdentityKind::kRamdisk) identity.run = "r-1";
  if (kind == IdentityKind::kTenant) identity.tenant = "acme";
  return pki.sign_in(identity);
}

Signer CoordinatorRig::with_chain(const KeyPair& key, const std::string& chain_pem) const {
  return Signer{key, {chain_pem}};
}

ServerRequest CoordinatorRig::request_of(const std::string& method, const std::string& target,
                                         const std::string& text, const Signer* caller,
                                         const std::string& instance) {
  ServerRequest request;
  const size_t question = std::min(target.find('?'), target.size());
  request.connection = connections_++;
  request.method = method;
  request.path = target.substr(0, question);
  request.query = question < target.size() ? target.substr(question + 1) : "";
  request.body = text;
  request.peer_address = "192.0.2.1";
  if (!instance.empty()) request.headers = {{"X-Leasehold-Instance", instance}};
  if (caller == nullptr) return request;
  for (const std::string& pem : caller->chain_pem) {
    for (std::string& der : pem_to_der(pem).value()) {
      request.peer_chain_der.push_back(std::move(der));
    }
  }
  return request;
}

void CoordinatorRig::run_until(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  std::function<void()> look = [&] {
    if (condition() || std::chrono::steady_clock::now() > end) return loop.stop();
    loop.after(1, look);
  };
  loop.post(look);
  loop.run();
}

Answer CoordinatorRig::call_text(const std::string& method, const std::string& target,
                                 const std::string& text, const Signer* caller,
                                 const std::string& instance) {
  Answer answer;
  bool answered = false;
  api->handle(request_of(method, target, text, caller, instance), [&](HttpResponse response) {
    answer = answer_of(response);
    answered = true;
  });
  run_until([&] { return answered; });
  if (!answered) throw std::runtime_error(method + " " + target + " was not answered");
  return answer;
}

Answer CoordinatorRig::call(const std::string& method, const std::string& target, const Json& body,
                            const Signer* caller, const std::string& instance) {
  return call_text(method, target, body.is_null() ? "" : dump_json(body), caller, instance);
}

void CoordinatorRig::begin(uint64_t connection, const std::string& target,
                           std::shared_ptr<Answer> answer) {
  ServerRequest request = request_of("GET", target, "", &admin, "");
  request.connection = connection;
  api->handle(request, [answer](HttpResponse response) { *answer = answer_of(response); });
}

Json CoordinatorRig::enrolment(const std::string& token) const {
  auto csr = [] { return make_csr(generate_key().private_key_pem).value(); };
  return {{"token", token},
          {"siteAgentCsr", csr()},
          {"gatewayCsr", csr()},
          {"siteCaCsr", csr()},
          {"gatewayDns", Json::array()},
          {"gatewayIps", Json::array({"192.0.2.7"})}};
}

Signer CoordinatorRig::enrol(const std::string& site) {
  post("/v1/sites", {{"site", site}});
  const std::string token =
      json_text(post("/v1/sites/" + site + "/token", Json::object()).body, "token");
  const KeyPair key = generate_key();
  Json body = enrolment(token);
  body["siteAgentCsr"] = make_csr(key.private_key_pem).value();
  Answer answer = call("POST", "/v1/sites/" + site + "/enrol", body);
  if (answer.status != 200) throw std::runtime_error("not enrolled: " + answer.text);
  return with_chain(key, json_text(answer.body, "siteAgent"));
}

}  // namespace leasehold::test
