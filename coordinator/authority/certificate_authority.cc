#include "coordinator/authority/certificate_authority.h"

#include <arpa/inet.h>

#include <algorithm>

#include "coordinator/limits.h"
#include "core/tls/issued.h"

namespace leasehold {
namespace {

// What core/tls calls a part of a request is the member that it came in.
Error of_csr(Error error) {
  if (error.field != "dns_names" && error.field != "ip_addresses") error.field = "csr";
  return error;
}

Result<Issued> described(Result<IssuedChain> chain, std::string kind, std::string identity,
                         const store::Site& site, int64_t now_ms) {
  if (!chain.ok()) return of_csr(std::move(chain).error());
  const CertificateFacts facts = chain.value().facts;
  Issued issued;
  issued.chain_pem = std::move(chain.value().pem);
  issued.sha256 = facts.sha256;
  issued.row = {facts.serial, std::move(kind), std::move(identity),
                site.site,    site.enrolment,  facts.validity.not_after_ms,
                now_ms};
  return issued;
}

bool is_ip(const std::string& text) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, text.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, text.c_str(), bytes) == 1;
}

}  // namespace

Result<Issued> CertificateAuthority::issue_daemon(IdentityKind kind, const store::Site& site,
                                                  const std::string& csr_pem,
                                                  const GatewayNames& names) const {
  const int64_t now_ms = clock_.now_ms();
  LeafRequest request;
  request.identity.kind = kind;
  request.identity.domain = domain_;
  request.identity.site = site.site;
  request.csr_pem = csr_pem;
  request.validity = {now_ms - limits::kBackdatedMs, now_ms + limits::kDaemonLifeMs};
  request.dns_names = names.dns;
  request.ip_addresses = names.ips;
  return described(issue_leaf_chain(issuing_, request), std::string(kind_name(kind)),
                   request.identity.uri(), site, now_ms);
}

Result<Issued> CertificateAuthority::issue_site_agent(const store::Site& site,
                                                      const std::string& csr_pem) const {
  return issue_daemon(IdentityKind::kSiteAgent, site, csr_pem, {});
}

Result<Issued> CertificateAuthority::issue_gateway(const store::Site& site,
                                                   const std::string& csr_pem) const {
  return issue_daemon(IdentityKind::kGateway, site, csr_pem, {site.gateway_dns, site.gateway_ips});
}

Result<Issued> CertificateAuthority::issue_site_ca(const store::Site& site,
                                                   const std::string& csr_pem) const {
  const int64_t now_ms = clock_.now_ms();
  SiteCaRequest request{
      site.site, domain_, csr_pem, {now_ms - limits::kBackdatedMs, now_ms + limits::kSiteCaLifeMs}};
  return described(issue_site_ca_chain(issuing_, request), "site-ca",
                   "spiffe://" + site.site + "." + domain_ + "/", site, now_ms);
}

Status CertificateAuthority::keep(Sql& sql, const Issued& issued) {
  return store::add_certificate(sql, issued.row);
}

Status CertificateAuthority::keep_site_ca(Sql& sql, const Issued& issued) const {
  const int64_t now_ms = clock_.now_ms();
  int64_t alive = 0;
  for (const store::SiteCa& ca : TRY(store::site_cas(sql, issued.row.site))) {
    if (ca.not_after_ms > now_ms) ++alive;
  }
  if (alive >= limits::kSiteCasAlive) {
    return Error(Code::kConflict, "site " + issued.row.site + " has " + std::to_string(alive) +
                                      " site CAs that have not expired; it gets no other before "
                                      "one of them has");
  }
  TRY(keep(sql, issued));
  return store::add_site_ca(sql, {issued.sha256, issued.row.site, issued.row.not_after_ms,
                                  issued.row.issued_at_ms, issued.chain_pem});
}

Result<GatewayNames> check_gateway_names(GatewayNames names, const std::string& site,
                                         const std::string& domain) {
  const std::string below = "." + site + "." + domain;
  if (names.dns.size() + names.ips.size() > limits::kGatewayNames) {
    return Error(Code::kInvalidInput, "a gateway has at most 16 names", "gatewayDns");
  }
  if (names.dns.empty() && names.ips.empty()) names.dns = {"gateway" + below};
  for (const std::string& dns : names.dns) {
    if (!is_valid_host_name(dns)) {
      return Error(Code::kInvalidInput, "not a host name in lower case: " + dns.substr(0, 64),
                   "gatewayDns");
    }
    if (!dns.ends_with(below)) {
      return Error(Code::kForbidden,
                   "a gateway of this site is called something" + below + ", not " + dns,
                   "gatewayDns");
    }
  }
  for (const std::string& ip : names.ips) {
    if (!is_ip(ip)) {
      return Error(Code::kInvalidInput, "not an IP address: " + ip.substr(0, 64), "gatewayIps");
    }
  }
  return names;
}

}  // namespace leasehold
