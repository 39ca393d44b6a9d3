// The certificate authority as two functions: one issues, one judges, both from one issuer matrix.
// Nothing else in the product calls X509_verify_cert (a test looks). P-256, critical key usage,
// EKU clientAuth and serverAuth, exactly one URI SAN; server leaves also carry DNS and IP SANs.
// Root -> issuing CA (2 y) -> site CA (90 d, critical name constraints: that site's URI host
// permitted, all DNS and IP excluded). Thread-safe; a thread remembers the authorities that it saw
// and opened last.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/tls/identity.h"

namespace leasehold {

// A certificate authority's certificate with its key, and the chain above it.
struct CaKey {
  std::string certificate_pem;
  std::string private_key_pem;
  std::string chain_above_pem;  // issuers up to but without the root; may be empty
};

struct Validity {
  int64_t not_before_ms = 0;
  int64_t not_after_ms = 0;
};

Result<CaKey> issue_root(const std::string& domain, const Validity& validity);
Result<CaKey> issue_issuing_ca(const CaKey& root, const std::string& domain,
                               const Validity& validity);
// Name-constrained to spiffe://<site>.<domain>/.
Result<CaKey> issue_site_ca(const CaKey& issuing, const std::string& site,
                            const std::string& domain, const Validity& validity);

// The same for a key that never leaves its site: only the CSR comes here, and its signature is
// checked. The result is the site CA followed by the chain without the root, PEM.
struct SiteCaRequest {
  std::string site;
  std::string domain;
  std::string csr_pem;
  Validity validity;  // clamped to the issuer's not_after
};
Result<std::string> issue_site_ca(const CaKey& issuing, const SiteCaRequest& request);

struct LeafRequest {
  Identity identity;
  std::string csr_pem;                 // its signature is checked: proof of possession
  Validity validity;                   // clamped to the issuer's not_after
  std::vector<std::string> dns_names;  // server leaves only
  std::vector<std::string> ip_addresses;
};
// Refuses (FORBIDDEN) a kind that the matrix does not give to this issuer. The result is the leaf
// followed by the chain without the root, PEM.
Result<std::string> issue_leaf(const CaKey& issuer, const LeafRequest& request);

Result<std::string> make_csr(const std::string& private_key_pem);  // PEM, empty subject
Result<std::string> csr_der(const std::string& csr_pem);           // what the join's HMAC covers

// What the bearer of a chain wants to do; the matrix says which kinds may.
enum class Verb {
  kAttest,          // sign a result that counts
  kSignRun,         // sign run evidence or a hello (site-agent)
  kServeGateway,    // be the gateway towards a machine
  kRamdiskCommand,  // take the commands of a run
  kSession,         // hold a session, send telemetry, leave
  kReadSecret,
  kSyncRows,
  kCallApi,
  kSignReceipt,  // say when the evidence of a run arrived (coordinator)
};

// Why a chain does not allow a verb: a closed list. Tests go over it.
enum class ChainRefusal {
  kMalformed,
  kChainTooLong,
  kUntrusted,
  kExpired,
  kNotYetValid,
  kWrongIssuer,
  kUnrecordedSiteCa,
  kWrongSite,
  kKindMayNot,
  kBadUri,
  kWrongHost,
  kNotALeaf,      // a CA, or another key, key usage or EKU than issue_leaf gives
  kForbiddenName  // a SAN that its kind or its issuer may not carry
};
std::string_view chain_refusal_name(ChainRefusal refusal);  // "untrusted", "wrong-issuer", ...

struct Anchors {
  std::string root_pem;
  std::string domain;
  // SHA-256 (hex, of the DER) of the site CAs recorded for each site: pairs (site, digest).
  std::vector<std::pair<std::string, std::string>> site_cas;
};

struct Judgement {
  bool allowed = false;
  ChainRefusal refusal = ChainRefusal::kMalformed;  // when not allowed
  std::string detail;
  Identity identity;           // of the leaf, when it could be read
  std::string leaf_serial;     // hex
  std::string public_key_pem;  // of the leaf
  std::string site_ca_sha256;  // hex, if the leaf hangs under a site CA
  int64_t not_before_ms = 0;
  int64_t not_after_ms = 0;
};

struct JudgeRequest {
  std::vector<std::string> chain_der;  // leaf first; the root may be absent
  int64_t instant_ms = 0;
  Verb verb = Verb::kAttest;
  std::string host;              // servers: the DNS name or IP the client meant; else empty
  bool ignore_validity = false;  // only a ramdisk that has no clock yet: its first hello
};
// leaf, chain, anchors, instant, verb -> allowed, or a reason. Checks chain and name constraints
// (X509_verify_cert), issuer matrix, exactly one URI SAN, kind against verb, host.
Judgement judge(const JudgeRequest& request, const Anchors& anchors);

Result<std::vector<std::string>> pem_to_der(const std::string& chain_pem);
std::string der_to_pem(std::string_view certificate_der);
Result<std::string> certificate_sha256(const std::string& certificate_pem);  // hex, of the DER

// What is kept of a certificate that was issued: of the first one of a chain.
struct CertificateFacts {
  std::string serial;  // hex
  std::string sha256;  // hex, of the DER
  Validity validity;
};
Result<CertificateFacts> certificate_facts(const std::string& chain_pem);

}  // namespace leasehold
