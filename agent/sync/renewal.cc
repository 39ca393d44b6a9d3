#include "agent/sync/renewal.h"

#include <algorithm>

#include "core/base/files.h"
#include "core/base/log.h"
#include "core/tls/renewal_time.h"
#include "core/tls/tls.h"

namespace leasehold {
namespace {

constexpr mode_t kPublicMode = 0644;

struct Renewed {
  std::string chain_pem;
  Json site_cas;
};
Result<Renewed> ask(CoordinatorClient& centre, const std::string& kind, const std::string& csr) {
  Json answer = TRY(centre.post("/v1/site/renew", Json{{"kind", kind}, {"csr", csr}}));
  Renewed renewed;
  renewed.chain_pem = TRY(json_string(answer, "chain"));
  renewed.site_cas = json_member(answer, "siteCas");
  return renewed;
}

Error unusable(const std::string& kind, const std::string& why) {
  return Error(Code::kMalformed, "the renewed certificate of the " + kind + ": " + why);
}

// What TLS would say, too late, of a certificate for another key.
Status check_same_key(const std::string& chain_pem, const std::string& key_pem,
                      const std::string& kind) {
  TlsServerConfig pair;
  pair.certificate_chain_pem = chain_pem;
  pair.private_key_pem = key_pem;
  Result<SslCtx> fits = make_server_context(pair);
  return fits.ok() ? Status() : Status(unusable(kind, fits.error().message));
}

// What was recorded before stays: evidence of former runs is judged by it.
Result<Json> merged_site_cas(const Anchors& known, const Json& told) {
  if (!told.is_object()) return unusable("site-ca", "no list of site CAs came with it");
  Json merged = told;
  for (const auto& [site, sha256] : known.site_cas) {
    Json& list = merged[site];
    if (!list.is_array()) list = Json::array();
    if (std::find(list.begin(), list.end(), Json(sha256)) == list.end()) list.push_back(sha256);
  }
  return merged;
}

}  // namespace

Renewal::Renewal(IdentityPaths paths, CurrentIdentity& identity, Clock& clock, Random& random)
    : paths_(std::move(paths)), identity_(identity), clock_(clock), random_(random) {}

bool Renewal::is_due(const std::string& chain_pem, Due& due) {
  if (due.chain_pem != chain_pem) {
    Result<CertificateFacts> facts = certificate_facts(chain_pem);
    if (!facts.ok()) return false;  // it was read at the start, so it cannot be
    due = Due{chain_pem, renewal_due_ms(facts.value().validity, random_)};
  }
  return clock_.now_ms() >= due.at_ms;
}

void Renewal::look(CoordinatorClient& centre) {
  serve_gateway(centre);
  if (clock_.monotonic_ms() < not_before_ms_) return;
  const SiteIdentity& now = *identity_;
  if (is_due(now.agent_chain_pem, agent_due_)) renew_own(centre, "site-agent");
  if (is_due(now.site_ca.certificate_pem, site_ca_due_)) renew_own(centre, "site-ca");
}

void Renewal::renew_own(CoordinatorClient& centre, const std::string& kind) {
  const SiteIdentity& now = *identity_;
  Status renewed = kind == "site-ca" ? renew_site_ca(centre, now) : renew_agent(centre, now);
  if (renewed.ok()) renewed = reload();
  if (renewed.ok()) {
    log_line(LogEvent::kCertificateRenewed, Json{{"kind", kind}});
    return;
  }
  not_before_ms_ = clock_.monotonic_ms() + limits::kRenewRetryMs;
  log_line(LogEvent::kCertificateNotRenewed,
           Json{{"kind", kind}, {"message", scrubbed(renewed.error().text())}});
}

Status Renewal::renew_agent(CoordinatorClient& centre, const SiteIdentity& now) {
  std::string csr = TRY(make_csr(now.agent_key_pem));
  Renewed renewed = TRY(ask(centre, "site-agent", csr));
  TRY(check_same_key(renewed.chain_pem, now.agent_key_pem, "site-agent"));
  JudgeRequest request;
  request.chain_der = TRY(pem_to_der(renewed.chain_pem));
  request.instant_ms = clock_.now_ms();
  request.verb = Verb::kSyncRows;
  Judgement judgement = judge(request, now.anchors);
  bool ours = judgement.allowed && judgement.identity.kind == IdentityKind::kSiteAgent &&
              judgement.identity.site == now.site;
  if (!ours) return unusable("site-agent", judgement.detail);
  return write_file_atomic(paths_.certificate, renewed.chain_pem, kPublicMode);
}

// The list of recorded site CAs first, which holds the old one as well: what was issued under it
// goes on.
Status Renewal::renew_site_ca(CoordinatorClient& centre, const SiteIdentity& now) {
  std::string csr = TRY(make_csr(now.site_ca.private_key_pem));
  Renewed renewed = TRY(ask(centre, "site-ca", csr));
  TRY(check_same_key(renewed.chain_pem, now.site_ca.private_key_pem, "site-ca"));
  CertificateFacts facts = TRY(certificate_facts(renewed.chain_pem));
  const Json& recorded = json_member(renewed.site_cas, now.site);
  bool listed = recorded.is_array() &&
                std::find(recorded.begin(), recorded.end(), Json(facts.sha256)) != recorded.end();
  if (!listed) return unusable("site-ca", "the coordinator did not record it");
  Json site_cas = TRY(merged_site_cas(now.anchors, renewed.site_cas));
  TRY(write_file_atomic(paths_.site_cas, dump_json_pretty(site_cas) + "\n", kPublicMode));
  return write_file_atomic(paths_.site_ca, renewed.chain_pem, kPublicMode);
}

Status Renewal::reload() {
  SiteIdentity next = *identity_;
  TRY(read_identity_files(paths_, next));
  identities_.push_back(std::move(next));
  identity_.replace(&identities_.back());
  return {};
}

void Renewal::ask_for_gateway(std::string csr_pem, GatewayDone done) {
  std::lock_guard lock(mutex_);
  asked_ = Asked{std::move(csr_pem), std::move(done)};
}

void Renewal::serve_gateway(CoordinatorClient& centre) {
  std::optional<Asked> asked;
  {
    std::lock_guard lock(mutex_);
    asked = std::exchange(asked_, std::nullopt);
  }
  if (!asked) return;
  Result<Renewed> renewed = ask(centre, "gateway", asked->csr_pem);
  if (renewed.ok()) return asked->done(renewed.value().chain_pem);
  log_line(LogEvent::kCertificateNotRenewed,
           Json{{"kind", "gateway"}, {"message", scrubbed(renewed.error().text())}});
  asked->done(renewed.error());
}

}  // namespace leasehold
