// A small authority for tests, and a forger that signs what issue_leaf never would: the judge is
// tested against a certificate authority that has been taken over, not only against ours.
#pragma once

#include <openssl/x509v3.h>

#include <string>
#include <utility>
#include <vector>

#include "core/tls/build.h"
#include "core/tls/certificate.h"
#include "core/tls/crypto.h"
#include "core/tls/x509.h"

namespace leasehold::test {

inline constexpr int64_t kDayMs = 24LL * 3600 * 1000;
inline constexpr int64_t kNowMs = 1'800'000'000'000;  // 2027
inline const char* const kDomain = "example.net";

inline Validity days(int64_t count) { return {kNowMs - kDayMs, kNowMs + count * kDayMs}; }

struct Pki {
  CaKey root = issue_root(kDomain, days(3650)).value();
  CaKey issuing = issue_issuing_ca(root, kDomain, days(730)).value();
  CaKey s1 = issue_site_ca(issuing, "s1", kDomain, days(90)).value();
  CaKey s2 = issue_site_ca(issuing, "s2", kDomain, days(90)).value();
  KeyPair key = generate_key();

  Anchors anchors() const {
    return {root.certificate_pem,
            kDomain,
            {{"s1", certificate_sha256(s1.certificate_pem).value()},
             {"s2", certificate_sha256(s2.certificate_pem).value()}}};
  }
  const CaKey& issuer_of(IdentityKind kind) const {
    return kind_rule(kind).issuer == CaRole::kSite ? s1 : issuing;
  }
};

// One identity of each kind, of site s1 where it has a site.
inline Identity identity_of(IdentityKind kind) {
  Identity id;
  id.kind = kind;
  id.domain = kDomain;
  bool node = kind == IdentityKind::kRamdisk || kind == IdentityKind::kNodeTenant ||
              kind == IdentityKind::kNode;
  if (node || kind == IdentityKind::kSiteAgent || kind == IdentityKind::kGateway) id.site = "s1";
  if (node) {
    id.node = "n1";
    id.generation = 7;
  }
  if (kind == IdentityKind::kRamdisk) id.run = "r-1";
  if (kind == IdentityKind::kTenant) id.tenant = "acme";
  if (id.site.empty()) id.name = "ann";
  return id;
}

inline const std::vector<IdentityKind>& all_kinds() {
  static const std::vector<IdentityKind> kKinds = {
      IdentityKind::kRamdisk,   IdentityKind::kNodeTenant, IdentityKind::kNode,
      IdentityKind::kSiteAgent, IdentityKind::kGateway,    IdentityKind::kCoordinator,
      IdentityKind::kOperator,  IdentityKind::kTenant};
  return kKinds;
}

inline LeafRequest request_for(const Pki& pki, const Identity& identity) {
  LeafRequest request;
  request.identity = identity;
  request.csr_pem = make_csr(pki.key.private_key_pem).value();
  request.validity = days(1);
  if (kind_rule(identity.kind).server) {
    request.dns_names = {std::string(kind_name(identity.kind)) + ".s1.example.net"};
    request.ip_addresses = {"127.0.0.1", "::1"};
  }
  return request;
}

inline std::vector<std::string> chain_for(const Pki& pki, IdentityKind kind) {
  LeafRequest request = request_for(pki, identity_of(kind));
  return pem_to_der(issue_leaf(pki.issuer_of(kind), request).value()).value();
}

struct Forgery {
  std::vector<std::pair<int, std::string>> names;  // GEN_URI, GEN_DNS, ...
  std::string basic_constraints = "critical,CA:FALSE";
  std::string key_usage = "critical,digitalSignature";
  std::string extended_key_usage = "clientAuth,serverAuth";  // "": none
  std::string common_name;                                   // "": empty subject
  Validity validity = days(1);
};

// Signs it with whatever key is given, also with a leaf's. DER.
inline std::string forge(const CaKey& issuer, const KeyPair& subject, const Forgery& wish) {
  X509Ptr above = parse_certificate_pem(issuer.certificate_pem).value();
  PkeyPtr issuer_key = parse_private_key(issuer.private_key_pem).value();
  PkeyPtr key = parse_private_key(subject.private_key_pem).value();
  X509Ptr leaf = new_certificate(key.get(), wish.validity);
  if (!wish.common_name.empty()) name_ca(leaf.get(), "", wish.common_name.c_str());
  extend(leaf.get(), above.get(), NID_basic_constraints, wish.basic_constraints.c_str());
  extend(leaf.get(), above.get(), NID_key_usage, wish.key_usage.c_str());
  if (!wish.extended_key_usage.empty()) {
    extend(leaf.get(), above.get(), NID_ext_key_usage, wish.extended_key_usage.c_str());
  }
  extend(leaf.get(), above.get(), NID_subject_key_identifier, "hash");
  extend(leaf.get(), above.get(), NID_authority_key_identifier, "keyid:always");
  GeneralNamesPtr names(GENERAL_NAMES_new());
  for (const auto& [type, text] : wish.names) add_name(names.get(), type, text);
  if (!wish.names.empty()) {
    X509_add1_ext_i2d(leaf.get(), NID_subject_alt_name, names.get(), 1, X509V3_ADD_DEFAULT);
  }
  sign_certificate(leaf.get(), above.get(), issuer_key.get());
  return certificate_der(leaf.get());
}

// The forged leaf and the issuer's own chain.
inline std::vector<std::string> forged_chain(const CaKey& issuer, const KeyPair& subject,
                                             const Forgery& wish) {
  std::vector<std::string> chain = {forge(issuer, subject, wish)};
  std::string above = issuer.certificate_pem + issuer.chain_above_pem;
  std::vector<std::string> links = pem_to_der(above).value();
  chain.insert(chain.end(), links.begin(), links.end());
  return chain;
}

}  // namespace leasehold::test
