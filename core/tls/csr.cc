#include "core/tls/csr.h"

#include <openssl/asn1.h>

#include <vector>

#include "core/tls/openssl.h"
#include "core/tls/x509.h"

namespace leasehold {
namespace {

using namespace std::string_view_literals;

constexpr size_t kPointBytes = 65;
// SubjectPublicKeyInfo of a P-256 key up to its point (RFC 5480), and ecdsa-with-SHA256 (RFC 5758).
constexpr std::string_view kP256Key =
    "\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07"
    "\x03\x42\x00"sv;
constexpr std::string_view kEcdsaSha256 = "\x30\x0a\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x02"sv;

struct TypesFree {
  void operator()(STACK_OF(ASN1_TYPE) * types) const {
    sk_ASN1_TYPE_pop_free(types, ASN1_TYPE_free);
  }
};
using Types = std::unique_ptr<STACK_OF(ASN1_TYPE), TypesFree>;

const unsigned char* octets(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// The elements of a DER sequence; null if it is none, or not the whole text.
Types elements(std::string_view der) {
  const unsigned char* at = octets(der);
  Types types(d2i_ASN1_SEQUENCE_ANY(nullptr, &at, static_cast<long>(der.size())));
  if (at != octets(der) + der.size()) return nullptr;
  return types;
}

// An element's bytes: a sequence with its head, a bit string's content.
std::string_view element(const Types& types, int index, int type) {
  const ASN1_TYPE* found = sk_ASN1_TYPE_value(types.get(), index);
  if (found == nullptr || ASN1_TYPE_get(found) != type) return {};
  return asn1_bytes(found->value.asn1_string);
}

struct Request {
  std::string_view info;  // what is signed
  std::string_view algorithm;
  std::string_view signature;
  std::string_view key;  // SubjectPublicKeyInfo
  Types outer, inner;    // that the views look into
};

Result<Request> parse_request(const std::string& der) {
  const Error malformed(Code::kMalformed, "not a CSR", "csr");
  Request request;
  request.outer = elements(der);
  if (!request.outer || sk_ASN1_TYPE_num(request.outer.get()) != 3) return malformed;
  request.info = element(request.outer, 0, V_ASN1_SEQUENCE);
  request.algorithm = element(request.outer, 1, V_ASN1_SEQUENCE);
  request.signature = element(request.outer, 2, V_ASN1_BIT_STRING);
  request.inner = elements(request.info);
  if (!request.inner || sk_ASN1_TYPE_num(request.inner.get()) != 4) return malformed;
  request.key = element(request.inner, 2, V_ASN1_SEQUENCE);
  if (request.key.empty() || request.signature.empty()) return malformed;
  return request;
}

// A P-256 key out of its point: with the parameters of a key that this thread has made once.
PkeyPtr key_of(std::string_view point) {
  thread_local const PkeyPtr pattern(EVP_EC_gen("P-256"));
  PkeyPtr key(EVP_PKEY_new());
  LEASEHOLD_CHECK(pattern && key, "P-256 is not available");
  if (EVP_PKEY_copy_parameters(key.get(), pattern.get()) != 1) return nullptr;
  if (EVP_PKEY_set1_encoded_public_key(key.get(), octets(point), point.size()) != 1) return nullptr;
  return key;
}

bool holds(EVP_PKEY* key, std::string_view text, std::string_view signature) {
  DigestCtxPtr ctx(EVP_MD_CTX_new());
  LEASEHOLD_CHECK(ctx && EVP_DigestVerifyInit(ctx.get(), nullptr, EVP_sha256(), nullptr, key) == 1,
                  "ECDSA is not available");
  return EVP_DigestVerify(ctx.get(), octets(signature), signature.size(), octets(text),
                          text.size()) == 1;
}

}  // namespace

Result<std::string> proven_point(const std::string& csr_pem) {
  std::string der = TRY(csr_der(csr_pem));
  ErrorScope errors;
  Request request = TRY(parse_request(der));
  const bool p256 =
      request.key.size() == kP256Key.size() + kPointBytes && request.key.starts_with(kP256Key);
  const std::string_view point = p256 ? request.key.substr(kP256Key.size()) : std::string_view();
  PkeyPtr key = p256 ? key_of(point) : nullptr;
  if (!key) return Error(Code::kInvalidInput, "the CSR's key is not P-256", "csr");
  if (request.algorithm != kEcdsaSha256) {
    return Error(Code::kInvalidInput, "the CSR is not signed with ECDSA and SHA-256", "csr");
  }
  if (!holds(key.get(), request.info, request.signature)) {
    return Error(Code::kForbidden, "the CSR is not signed with its own key", "csr");
  }
  return std::string(point);
}

}  // namespace leasehold
