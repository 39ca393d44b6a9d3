#include "core/tls/certificate.h"

#include <ctime>

#include "core/base/bytes.h"
#include "core/tls/build.h"

namespace leasehold {
namespace {

void add_subtree(STACK_OF(GENERAL_SUBTREE) * *list, int type, std::string_view bytes) {
  if (*list == nullptr) *list = sk_GENERAL_SUBTREE_new_null();
  GENERAL_SUBTREE* subtree = GENERAL_SUBTREE_new();
  LEASEHOLD_CHECK(*list != nullptr && subtree != nullptr, "out of memory");
  GENERAL_NAME_free(subtree->base);
  subtree->base = general_name(type, bytes);
  LEASEHOLD_CHECK(sk_GENERAL_SUBTREE_push(*list, subtree) > 0, "out of memory");
}

std::string constraints_der(NAME_CONSTRAINTS* constraints) {
  unsigned char* bytes = nullptr;
  int size = ASN1_item_i2d(reinterpret_cast<ASN1_VALUE*>(constraints), &bytes,
                           ASN1_ITEM_rptr(NAME_CONSTRAINTS));
  LEASEHOLD_CHECK(size > 0, "out of memory");
  std::string der(reinterpret_cast<char*>(bytes), static_cast<size_t>(size));
  OPENSSL_free(bytes);
  return der;
}

// The host of a site CA's constraints, or "" if they are not exactly those that we write.
std::string constrained_host(NAME_CONSTRAINTS* constraints) {
  if (sk_GENERAL_SUBTREE_num(constraints->permittedSubtrees) != 1) return {};
  GENERAL_NAME* base = sk_GENERAL_SUBTREE_value(constraints->permittedSubtrees, 0)->base;
  if (base->type != GEN_URI) return {};
  std::string host(asn1_bytes(base->d.uniformResourceIdentifier));
  NameConstraintsPtr ours = site_constraints(host);
  return constraints_der(ours.get()) == constraints_der(constraints) ? host : std::string();
}

int64_t time_ms(const ASN1_TIME* time) {
  tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return 0;
  return static_cast<int64_t>(timegm(&parts)) * 1000;
}

}  // namespace

NameConstraintsPtr site_constraints(const std::string& site_host) {
  NameConstraintsPtr constraints(NAME_CONSTRAINTS_new());
  LEASEHOLD_CHECK(constraints != nullptr, "out of memory");
  add_subtree(&constraints->permittedSubtrees, GEN_URI, site_host);
  // An empty DNS base and a zero mask match every name and address (RFC 5280 section 4.2.1.10).
  add_subtree(&constraints->excludedSubtrees, GEN_DNS, "");
  add_subtree(&constraints->excludedSubtrees, GEN_IPADD, std::string(8, '\0'));
  add_subtree(&constraints->excludedSubtrees, GEN_IPADD, std::string(32, '\0'));
  return constraints;
}

CaForm ca_form(X509* certificate) {
  ErrorScope errors;
  // 1: a v3 certificate whose basicConstraints say CA; other values are guesses about old ones.
  if (X509_check_ca(certificate) != 1) return {};
  if ((X509_get_key_usage(certificate) & KU_KEY_CERT_SIGN) == 0) return {};
  if (X509_NAME_cmp(X509_get_subject_name(certificate), X509_get_issuer_name(certificate)) == 0) {
    return {CaRole::kRoot, {}};
  }
  int critical = -1;
  NameConstraintsPtr constraints(static_cast<NAME_CONSTRAINTS*>(
      X509_get_ext_d2i(certificate, NID_name_constraints, &critical, nullptr)));
  long path_length = X509_get_pathlen(certificate);
  if (!constraints) {
    bool issuing = critical == -1 && path_length == 1;  // -1: there is no such extension
    return {issuing ? CaRole::kIssuing : CaRole::kNone, {}};
  }
  std::string host = constrained_host(constraints.get());
  if (critical != 1 || path_length != 0 || host.empty()) return {};
  return {CaRole::kSite, host};
}

AltNames alt_names(const X509* certificate) {
  ErrorScope errors;
  AltNames out;
  GeneralNamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  if (!names) return out;
  out.readable = true;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_URI) {
      out.uris.emplace_back(asn1_bytes(name->d.uniformResourceIdentifier));
    } else if (name->type == GEN_DNS || name->type == GEN_IPADD) {
      ++out.hosts;
    } else {
      ++out.others;
    }
  }
  return out;
}

Validity validity_of(const X509* certificate) {
  return {time_ms(X509_get0_notBefore(certificate)), time_ms(X509_get0_notAfter(certificate))};
}

std::string serial_hex(const X509* certificate) {
  return hex_encode(asn1_bytes(X509_get0_serialNumber(certificate)));
}

// By hand, because OpenSSL 3's encoder is slower than all the rest of a judgement but signatures.
std::string public_key_pem(const X509* certificate) {
  unsigned char* der = nullptr;
  int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);
  LEASEHOLD_CHECK(size > 0, "out of memory");
  BioPtr bio = bio_in_memory();
  int written = PEM_write_bio(bio.get(), PEM_STRING_PUBLIC, "", der, size);
  OPENSSL_free(der);
  LEASEHOLD_CHECK(written > 0, "out of memory");
  return bio_text(bio.get());
}

bool has_p256_key(const X509* certificate) {
  ErrorScope errors;
  EVP_PKEY* key = X509_get0_pubkey(certificate);
  return key != nullptr && is_p256(key);
}

}  // namespace leasehold
