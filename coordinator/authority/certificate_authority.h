// The coordinator's certificate authority: decides how long and with which names, has core/tls
// issue, and keeps every certificate as a row before anybody gets it. The issuing key is read once,
// at start. `issue_*` only compute, on any thread; `keep` runs in the transaction whose commit is
// waited for before the answer.
#pragma once

#include <string>
#include <vector>

#include "coordinator/store/sites.h"
#include "core/base/clock.h"
#include "core/tls/x509.h"

namespace leasehold {

struct Issued {
  std::string chain_pem;
  store::Certificate row;
  std::string sha256;  // hex, of the DER of the first certificate
};

struct GatewayNames {
  std::vector<std::string> dns;
  std::vector<std::string> ips;
};

class CertificateAuthority {
 public:
  CertificateAuthority(CaKey issuing, std::string domain, Clock& clock)
      : issuing_(std::move(issuing)), domain_(std::move(domain)), clock_(clock) {}

  // INVALID_INPUT, MALFORMED, TOO_LARGE or FORBIDDEN, with the field "csr".
  Result<Issued> issue_site_agent(const store::Site& site, const std::string& csr_pem) const;
  Result<Issued> issue_gateway(const store::Site& site, const std::string& csr_pem) const;
  Result<Issued> issue_site_ca(const store::Site& site, const std::string& csr_pem) const;

  static Status keep(Sql& sql, const Issued& issued);
  // The same for a site CA, which is recorded as that site's as well. CONFLICT if the site has too
  // many that have not expired.
  Status keep_site_ca(Sql& sql, const Issued& issued) const;

  const std::string& domain() const { return domain_; }

 private:
  Result<Issued> issue_daemon(IdentityKind kind, const store::Site& site,
                              const std::string& csr_pem, const GatewayNames& names) const;

  CaKey issuing_;
  std::string domain_;
  Clock& clock_;
};

// What a gateway may be called: hosts below "<site>.<domain>", and addresses. FORBIDDEN for any
// other host, INVALID_INPUT; nothing at all gives "gateway.<site>.<domain>".
Result<GatewayNames> check_gateway_names(GatewayNames names, const std::string& site,
                                         const std::string& domain);

}  // namespace leasehold
