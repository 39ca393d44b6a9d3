// The one place that judges certificates (declared in x509.h), and the only caller of
// X509_verify_cert in the product.
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/limits.h"
#include "core/tls/certificate.h"
#include "core/tls/crypto.h"

namespace leasehold {
namespace {

constexpr std::array<std::string_view, 13> kRefusalNames = {
    "malformed",    "chain-too-long",     "untrusted",     "expired",      "not-yet-valid",
    "wrong-issuer", "unrecorded-site-ca", "wrong-site",    "kind-may-not", "bad-uri",
    "wrong-host",   "not-a-leaf",         "forbidden-name"};
static_assert(static_cast<size_t>(ChainRefusal::kForbiddenName) + 1 == kRefusalNames.size());

struct Refusal {
  ChainRefusal reason;
  std::string detail;
};
using Verdict = std::optional<Refusal>;  // empty: nothing against it

Refusal refuse(ChainRefusal reason, std::string detail) { return {reason, std::move(detail)}; }

struct StoreCtxFree {
  void operator()(X509_STORE_CTX* ctx) const { X509_STORE_CTX_free(ctx); }
};

using Chain = std::vector<X509Ptr>;

// The authorities that this thread saw last, by their bytes. OpenSSL decodes a key when it is first
// used, which takes longer than all the rest of a judgement; nothing here says that it is trusted.
Result<X509Ptr> parse_authority(const std::string& der) {
  struct Known {
    std::string der;
    X509Ptr certificate;
  };
  thread_local std::array<Known, 16> known;
  thread_local size_t oldest = 0;
  for (const Known& one : known) {
    if (one.certificate == nullptr || one.der != der) continue;
    X509_up_ref(one.certificate.get());
    return X509Ptr(one.certificate.get());
  }
  X509Ptr certificate = TRY(parse_certificate(der));
  X509_up_ref(certificate.get());
  known[oldest] = Known{der, X509Ptr(certificate.get())};
  oldest = (oldest + 1) % known.size();
  return certificate;
}

Verdict parse_chain(const std::vector<std::string>& chain_der, Chain& chain) {
  if (chain_der.empty()) return refuse(ChainRefusal::kMalformed, "there is no certificate");
  if (chain_der.size() > limits::kChainCertificates) {
    return refuse(ChainRefusal::kChainTooLong, "more than 4 certificates");
  }
  for (const std::string& der : chain_der) {
    if (der.size() > limits::kCertificateBytes) {
      return refuse(ChainRefusal::kChainTooLong, "a certificate of more than 4096 bytes");
    }
    Result<X509Ptr> certificate = chain.empty() ? parse_certificate(der) : parse_authority(der);
    if (!certificate.ok()) return refuse(ChainRefusal::kMalformed, certificate.error().message);
    chain.push_back(std::move(certificate).value());
  }
  return {};
}

// For logs and for whoever is allowed: a refused leaf's words are only words.
void describe_leaf(const X509* leaf, const AltNames& names, const std::string& domain,
                   Judgement& out) {
  Validity validity = validity_of(leaf);
  out.not_before_ms = validity.not_before_ms;
  out.not_after_ms = validity.not_after_ms;
  out.leaf_serial = serial_hex(leaf);
  out.public_key_pem = public_key_pem(leaf);
  if (names.uris.size() != 1) return;
  Result<Identity> identity = Identity::parse(names.uris[0], domain);
  if (identity.ok()) out.identity = std::move(identity).value();
}

ChainRefusal reason_of(int verify_error) {
  switch (verify_error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return ChainRefusal::kExpired;
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return ChainRefusal::kNotYetValid;
    case X509_V_ERR_CERT_CHAIN_TOO_LONG:
      return ChainRefusal::kChainTooLong;
    case X509_V_ERR_INVALID_CA:
    case X509_V_ERR_PATH_LENGTH_EXCEEDED:
    case X509_V_ERR_KEYUSAGE_NO_CERTSIGN:
      return ChainRefusal::kWrongIssuer;
    case X509_V_ERR_PERMITTED_VIOLATION:
      return ChainRefusal::kWrongSite;
    case X509_V_ERR_EXCLUDED_VIOLATION:
      return ChainRefusal::kForbiddenName;
    default:
      return ChainRefusal::kUntrusted;
  }
}

// Signatures, validity, path lengths and name constraints, up to our root and to nothing else. The
// presented chain must be that very path, with or without the root: a certificate that does not
// matter to the verdict has no business in a chain that is kept as evidence.
Verdict verify_path(const Chain& chain, X509* root, const JudgeRequest& request) {
  X509StackPtr presented(sk_X509_new_null());
  X509StackPtr trusted(sk_X509_new_null());
  std::unique_ptr<X509_STORE_CTX, StoreCtxFree> ctx(X509_STORE_CTX_new());
  bool ready = presented && trusted && ctx && sk_X509_push(trusted.get(), root) > 0;
  for (const X509Ptr& certificate : chain) {
    ready = ready && sk_X509_push(presented.get(), certificate.get()) > 0;
  }
  ready =
      ready && X509_STORE_CTX_init(ctx.get(), nullptr, chain.front().get(), presented.get()) == 1;
  LEASEHOLD_CHECK(ready, "out of memory");
  X509_STORE_CTX_set0_trusted_stack(ctx.get(), trusted.get());
  X509_VERIFY_PARAM* param = X509_STORE_CTX_get0_param(ctx.get());
  X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_X509_STRICT);
  X509_VERIFY_PARAM_set_depth(param, static_cast<int>(limits::kChainCertificates) - 1);
  X509_VERIFY_PARAM_set_auth_level(param, 2);
  if (request.ignore_validity) {  // a time that is set would win over the flag
    X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_NO_CHECK_TIME);
  } else {
    X509_VERIFY_PARAM_set_time(param, request.instant_ms / 1000);
  }
  if (X509_verify_cert(ctx.get()) != 1) {
    int error = X509_STORE_CTX_get_error(ctx.get());
    return refuse(reason_of(error), X509_verify_cert_error_string(error));
  }
  STACK_OF(X509)* path = X509_STORE_CTX_get0_chain(ctx.get());
  size_t length = static_cast<size_t>(sk_X509_num(path));
  bool same = chain.size() == length || chain.size() + 1 == length;
  for (size_t i = 0; same && i < chain.size(); ++i) {
    same = X509_cmp(chain[i].get(), sk_X509_value(path, static_cast<int>(i))) == 0;
  }
  if (!same) {
    return refuse(ChainRefusal::kMalformed, "the chain is not exactly the path to the root");
  }
  return {};
}

Verdict check_leaf_form(X509* leaf, const AltNames& names, const Judgement& out) {
  if (X509_check_ca(leaf) != 0) {
    return refuse(ChainRefusal::kNotALeaf, "a certificate authority is nobody's identity");
  }
  if (X509_get_key_usage(leaf) != KU_DIGITAL_SIGNATURE ||
      X509_get_extended_key_usage(leaf) != (XKU_SSL_CLIENT | XKU_SSL_SERVER) ||
      !has_p256_key(leaf)) {
    return refuse(ChainRefusal::kNotALeaf, "key, key usage or extended key usage is not ours");
  }
  if (!names.readable || names.uris.size() != 1) {
    return refuse(ChainRefusal::kBadUri, "there must be exactly one URI name");
  }
  if (out.identity.domain.empty()) {
    return refuse(ChainRefusal::kBadUri, "the URI is not an identity of this domain");
  }
  if (names.others > 0 || (names.hosts > 0 && !kind_rule(out.identity.kind).server)) {
    return refuse(ChainRefusal::kForbiddenName, "it carries names that its kind may not");
  }
  return {};
}

// The form of the leaf's issuer and its distance from the root must both be those of the matrix:
// a site CA passes every other check when it signs its own gateway.
Verdict check_issuer(const Chain& chain, bool root_presented, Identity& identity) {
  size_t authorities = chain.size() - 1 - (root_presented ? 1 : 0);
  CaRole wanted = kind_rule(identity.kind).issuer;
  CaRole top = authorities > 0 ? ca_form(chain[authorities].get()).role : CaRole::kNone;
  CaForm issuer = authorities > 0 ? ca_form(chain[1].get()) : CaForm{};
  bool right = top == CaRole::kIssuing && issuer.role == wanted &&
               authorities == (wanted == CaRole::kSite ? 2u : 1u);
  if (!right) {
    return refuse(ChainRefusal::kWrongIssuer, "the kind " + std::string(kind_name(identity.kind)) +
                                                  " may not come from this authority");
  }
  if (wanted == CaRole::kSite && issuer.site_host != identity.site + "." + identity.domain) {
    return refuse(ChainRefusal::kWrongSite, "the site CA is another site's");
  }
  return {};
}

Verdict check_recorded(const std::string& site_ca_der, const Anchors& anchors, Judgement& out) {
  out.site_ca_sha256 = sha256_hex(site_ca_der);
  bool elsewhere = false;
  for (const auto& [site, digest] : anchors.site_cas) {
    if (digest != out.site_ca_sha256) continue;
    if (site == out.identity.site) return {};
    elsewhere = true;
  }
  if (elsewhere) {
    return refuse(ChainRefusal::kWrongSite, "the site CA is recorded for another site");
  }
  return refuse(ChainRefusal::kUnrecordedSiteCa,
                "the site CA is not recorded for site " + out.identity.site);
}

// Law tenant-never-attests: among others, a node-tenant may not kAttest (matrix.cc).
Verdict check_verb(const JudgeRequest& request, const Identity& identity) {
  if (kind_may(identity.kind, request.verb)) return {};
  return refuse(ChainRefusal::kKindMayNot,
                "the kind " + std::string(kind_name(identity.kind)) + " may not do that");
}

Verdict check_host(const JudgeRequest& request, X509* leaf) {
  if (request.host.empty()) {
    if (request.verb != Verb::kServeGateway) return {};
    return refuse(ChainRefusal::kWrongHost, "a gateway is judged against the host that was meant");
  }
  constexpr unsigned kFlags = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_WILDCARDS;
  // Only whole names: OpenSSL takes ".s1.example.net" for "any host below", and an address up to
  // its first NUL.
  const std::string& host = request.host;
  bool matches = is_valid_host_name(host) &&
                 X509_check_host(leaf, host.data(), host.size(), kFlags, nullptr) == 1;
  matches = matches ||
            (host.find('\0') == std::string::npos && X509_check_ip_asc(leaf, host.c_str(), 0) == 1);
  if (matches) return {};
  return refuse(ChainRefusal::kWrongHost, "the certificate is not for " + request.host);
}

Verdict examine(const JudgeRequest& request, const Anchors& anchors, Judgement& out) {
  Chain chain;
  if (Verdict verdict = parse_chain(request.chain_der, chain)) return verdict;
  X509* leaf = chain.front().get();
  AltNames names = alt_names(leaf);
  describe_leaf(leaf, names, anchors.domain, out);
  Result<X509Ptr> root = parse_certificate_pem(anchors.root_pem);
  if (!root.ok() || ca_form(root.value().get()).role != CaRole::kRoot) {
    return refuse(ChainRefusal::kUntrusted, "our own root certificate is not one");
  }
  X509* anchor = root.value().get();
  if (Verdict verdict = verify_path(chain, anchor, request)) return verdict;
  if (Verdict verdict = check_leaf_form(leaf, names, out)) return verdict;
  bool root_presented = X509_cmp(chain.back().get(), anchor) == 0;
  if (Verdict verdict = check_issuer(chain, root_presented, out.identity)) return verdict;
  if (kind_rule(out.identity.kind).issuer == CaRole::kSite) {
    if (Verdict verdict = check_recorded(request.chain_der[1], anchors, out)) return verdict;
  }
  if (Verdict verdict = check_verb(request, out.identity)) return verdict;
  return check_host(request, leaf);
}

}  // namespace

std::string_view chain_refusal_name(ChainRefusal refusal) {
  return kRefusalNames[static_cast<size_t>(refusal)];
}

Judgement judge(const JudgeRequest& request, const Anchors& anchors) {
  ErrorScope errors;
  Judgement out;
  Verdict verdict = examine(request, anchors, out);
  out.allowed = !verdict.has_value();
  if (verdict) {
    out.refusal = verdict->reason;
    out.detail = std::move(verdict->detail);
  }
  return out;
}

}  // namespace leasehold
