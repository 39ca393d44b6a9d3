// The one place that issues certificates (declared in x509.h).
#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/limits.h"
#include "core/tls/build.h"
#include "core/tls/certificate.h"
#include "core/tls/crypto.h"
#include "core/tls/csr.h"
#include "core/tls/issued.h"

namespace leasehold {
namespace {

// A certificate authority opened for signing.
struct Issuer {
  X509Ptr certificate;
  PkeyPtr key;
  CaForm form;
  Validity validity;
};

Result<Issuer> open_issuer(const CaKey& ca) {
  ErrorScope errors;
  Issuer issuer;
  issuer.certificate = TRY_WITH(parse_certificate_pem(ca.certificate_pem), "issuer");
  issuer.key = TRY_WITH(parse_p256_key(ca.private_key_pem), "issuer");
  if (X509_check_private_key(issuer.certificate.get(), issuer.key.get()) != 1) {
    return Error(Code::kMalformed, "the issuer's key does not belong to its certificate");
  }
  issuer.form = ca_form(issuer.certificate.get());
  issuer.validity = validity_of(issuer.certificate.get());
  return issuer;
}

// The authorities that this thread opened last: OpenSSL 3 takes longer to decode a key than to sign
// with it. Valid until the thread opens another one.
Result<const Issuer*> opened_issuer(const CaKey& ca) {
  struct Known {
    CaKey key;
    Issuer issuer;
  };
  thread_local std::array<Known, 4> known;
  thread_local size_t oldest = 0;
  for (const Known& one : known) {
    if (one.issuer.key == nullptr || one.key.private_key_pem != ca.private_key_pem ||
        one.key.certificate_pem != ca.certificate_pem) {
      continue;
    }
    return &one.issuer;
  }
  Issuer issuer = TRY(open_issuer(ca));
  Known& place = known[oldest];
  oldest = (oldest + 1) % known.size();
  wipe_secret(place.key.private_key_pem);
  place.key = ca;
  place.issuer = std::move(issuer);
  return &place.issuer;
}

// Nobody vouches beyond their own time.
Result<Validity> within(const Validity& wanted, const Validity& issuer) {
  Validity validity{std::max(wanted.not_before_ms, issuer.not_before_ms),
                    std::min(wanted.not_after_ms, issuer.not_after_ms)};
  if (validity.not_before_ms / 1000 >= validity.not_after_ms / 1000) {
    return Error(Code::kInvalidInput, "the validity is empty, or outside the issuer's", "validity");
  }
  return validity;
}

struct CaPlan {
  std::string host;  // the domain, or the site's host
  const char* common_name;
  const char* basic_constraints;
  bool constrained = false;  // to `host`
};

// `issuer` null: self-signed, and `signer` is its own key.
Result<X509Ptr> make_ca(const Issuer* issuer, X509Ptr certificate, EVP_PKEY* signer,
                        const CaPlan& plan) {
  if (!is_valid_host_name(plan.host)) {
    return Error(Code::kInvalidInput, "not a host name in lower case: " + plan.host, "domain");
  }
  X509* above = issuer ? issuer->certificate.get() : certificate.get();
  name_ca(certificate.get(), plan.host, plan.common_name);
  extend(certificate.get(), above, NID_basic_constraints, plan.basic_constraints);
  extend(certificate.get(), above, NID_key_usage, "critical,keyCertSign,cRLSign");
  extend(certificate.get(), above, NID_subject_key_identifier, "hash");
  extend(certificate.get(), above, NID_authority_key_identifier, "keyid:always");
  if (plan.constrained) {
    NameConstraintsPtr constraints = site_constraints(plan.host);
    LEASEHOLD_CHECK(X509_add1_ext_i2d(certificate.get(), NID_name_constraints, constraints.get(), 1,
                                      X509V3_ADD_DEFAULT) == 1,
                    "out of memory");
  }
  sign_certificate(certificate.get(), above, signer);
  return certificate;
}

// With a new key. `issuer` null: self-signed.
Result<CaKey> issue_ca(const Issuer* issuer, const CaPlan& plan, const Validity& validity) {
  KeyPair pair = generate_key();
  PkeyPtr key = TRY(parse_p256_key(pair.private_key_pem));
  EVP_PKEY* signer = issuer ? issuer->key.get() : key.get();
  X509Ptr certificate = TRY(make_ca(issuer, new_certificate(key.get(), validity), signer, plan));
  return CaKey{certificate_pem(certificate.get()), pair.private_key_pem, {}};
}

CaPlan site_ca_plan(const std::string& site, const std::string& domain) {
  return {site + "." + domain, "Leasehold site CA", "critical,CA:TRUE,pathlen:0", true};
}

Result<const Issuer*> opened_issuing_ca(const CaKey& issuing) {
  const Issuer* issuer = TRY(opened_issuer(issuing));
  if (issuer->form.role == CaRole::kIssuing) return issuer;
  return Error(Code::kForbidden, "only an issuing CA issues a site CA");
}

// What is kept of it, and its text with what is above it.
IssuedChain issued(const X509* certificate, const Validity& validity, const CaKey& issuer) {
  IssuedChain chain;
  chain.facts = {serial_hex(certificate), sha256_hex(certificate_der(certificate)), validity};
  chain.pem = certificate_pem(certificate) + issuer.certificate_pem + issuer.chain_above_pem;
  return chain;
}

// To the second, as a certificate has it.
Validity in_seconds(const Validity& validity) {
  return {validity.not_before_ms / 1000 * 1000, validity.not_after_ms / 1000 * 1000};
}

Status check_matrix(const CaForm& issuer, const Identity& identity) {
  const KindRule& rule = kind_rule(identity.kind);
  if (issuer.role != rule.issuer) {
    return Error(Code::kForbidden,
                 "this certificate authority may not issue the kind " + std::string(rule.name));
  }
  if (issuer.role == CaRole::kSite && issuer.site_host != identity.site + "." + identity.domain) {
    return Error(Code::kForbidden, "this site CA is of " + issuer.site_host + " only");
  }
  return {};
}

Result<std::string> ip_bytes(const std::string& text) {
  std::string bytes(16, '\0');
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  bytes.resize(4);
  if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return bytes;
  return Error(Code::kInvalidInput, "not an IP address: " + text, "ip_addresses");
}

Result<GeneralNamesPtr> subject_names(const LeafRequest& request) {
  const KindRule& rule = kind_rule(request.identity.kind);
  if (!rule.server && !(request.dns_names.empty() && request.ip_addresses.empty())) {
    return Error(Code::kInvalidInput,
                 "DNS and IP names are for servers, not for the kind " + std::string(rule.name),
                 "dns_names");
  }
  GeneralNamesPtr names(GENERAL_NAMES_new());
  LEASEHOLD_CHECK(names != nullptr, "out of memory");
  add_name(names.get(), GEN_URI, request.identity.uri());
  for (const std::string& dns : request.dns_names) {
    if (!is_valid_host_name(dns)) {
      return Error(Code::kInvalidInput, "not a host name in lower case: " + dns, "dns_names");
    }
    add_name(names.get(), GEN_DNS, dns);
  }
  for (const std::string& ip : request.ip_addresses) {
    add_name(names.get(), GEN_IPADD, TRY(ip_bytes(ip)));
  }
  return names;
}

}  // namespace

Result<CaKey> issue_root(const std::string& domain, const Validity& validity) {
  Validity checked = TRY(within(validity, validity));
  return issue_ca(nullptr, {domain, "Leasehold root", "critical,CA:TRUE,pathlen:2"}, checked);
}

Result<CaKey> issue_issuing_ca(const CaKey& root, const std::string& domain,
                               const Validity& validity) {
  Issuer issuer = TRY(open_issuer(root));
  if (issuer.form.role != CaRole::kRoot) {
    return Error(Code::kForbidden, "only a root issues an issuing CA");
  }
  return issue_ca(&issuer, {domain, "Leasehold issuing CA", "critical,CA:TRUE,pathlen:1"},
                  TRY(within(validity, issuer.validity)));
}

Result<CaKey> issue_site_ca(const CaKey& issuing, const std::string& site,
                            const std::string& domain, const Validity& validity) {
  TRY(SiteId::parse(site, "site"));
  const Issuer* issuer = TRY(opened_issuing_ca(issuing));
  Validity checked = TRY(within(validity, issuer->validity));
  CaKey ca = TRY(issue_ca(issuer, site_ca_plan(site, domain), checked));
  ca.chain_above_pem = issuing.certificate_pem + issuing.chain_above_pem;
  return ca;
}

Result<IssuedChain> issue_site_ca_chain(const CaKey& issuing, const SiteCaRequest& request) {
  TRY(SiteId::parse(request.site, "site"));
  const Issuer* issuer = TRY(opened_issuing_ca(issuing));
  std::string point = TRY(proven_point(request.csr_pem));
  Validity validity = TRY(within(request.validity, issuer->validity));
  X509Ptr certificate = TRY(make_ca(issuer, new_certificate(point, validity), issuer->key.get(),
                                    site_ca_plan(request.site, request.domain)));
  return issued(certificate.get(), in_seconds(validity), issuing);
}

Result<std::string> issue_site_ca(const CaKey& issuing, const SiteCaRequest& request) {
  IssuedChain chain = TRY(issue_site_ca_chain(issuing, request));
  return std::move(chain.pem);
}

Result<IssuedChain> issue_leaf_chain(const CaKey& issuer_key, const LeafRequest& request) {
  // Reading the URI back shows that every part of the identity has the form that judge demands.
  Identity read_back = TRY(Identity::parse(request.identity.uri(), request.identity.domain));
  if (read_back != request.identity) {
    return Error(Code::kInvalidInput, "the identity has parts that its kind does not", "identity");
  }
  const Issuer* issuer = TRY(opened_issuer(issuer_key));
  TRY(check_matrix(issuer->form, request.identity));
  std::string point = TRY(proven_point(request.csr_pem));
  GeneralNamesPtr names = TRY(subject_names(request));
  Validity validity = TRY(within(request.validity, issuer->validity));
  X509Ptr leaf = new_certificate(point, validity);
  X509* above = issuer->certificate.get();
  extend(leaf.get(), above, NID_basic_constraints, "critical,CA:FALSE");
  extend(leaf.get(), above, NID_key_usage, "critical,digitalSignature");
  extend(leaf.get(), above, NID_ext_key_usage, "clientAuth,serverAuth");
  extend(leaf.get(), above, NID_subject_key_identifier, "hash");
  extend(leaf.get(), above, NID_authority_key_identifier, "keyid:always");
  // The subject is empty, so the SAN is critical (RFC 5280 section 4.1.2.6). A common name would
  // fall under a site CA's exclusion of DNS names.
  LEASEHOLD_CHECK(
      X509_add1_ext_i2d(leaf.get(), NID_subject_alt_name, names.get(), 1, X509V3_ADD_DEFAULT) == 1,
      "out of memory");
  sign_certificate(leaf.get(), above, issuer->key.get());
  return issued(leaf.get(), in_seconds(validity), issuer_key);
}

Result<std::string> issue_leaf(const CaKey& issuer, const LeafRequest& request) {
  IssuedChain chain = TRY(issue_leaf_chain(issuer, request));
  return std::move(chain.pem);
}

}  // namespace leasehold
