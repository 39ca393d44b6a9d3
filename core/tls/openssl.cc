#include "core/tls/openssl.h"

namespace leasehold {
namespace {

// Stands in for OpenSSL's default, which would ask on the terminal.
int no_pass_phrase(char*, int, int, void*) { return -1; }

}  // namespace

BioPtr bio_over(std::string_view bytes) {
  BioPtr bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
  LEASEHOLD_CHECK(bio != nullptr, "out of memory");
  return bio;
}

BioPtr bio_in_memory() {
  BioPtr bio(BIO_new(BIO_s_mem()));
  LEASEHOLD_CHECK(bio != nullptr, "out of memory");
  return bio;
}

std::string bio_text(BIO* bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio, &data);
  return size > 0 ? std::string(data, static_cast<size_t>(size)) : std::string();
}

std::string_view asn1_bytes(const ASN1_STRING* string) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
          static_cast<size_t>(ASN1_STRING_length(string))};
}

Result<PkeyPtr> parse_private_key(std::string_view pem) {
  ErrorScope errors;
  BioPtr bio = bio_over(pem);
  PkeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_pass_phrase, nullptr));
  if (!key) return Error(Code::kMalformed, "not a private key in PEM without a pass phrase");
  return key;
}

bool is_p256(const EVP_PKEY* key) {
  char group[32] = {};
  size_t size = 0;
  return EVP_PKEY_is_a(key, "EC") == 1 &&
         EVP_PKEY_get_group_name(key, group, sizeof group, &size) == 1 &&
         std::string_view(group, size) == "prime256v1";
}

Result<PkeyPtr> parse_p256_key(std::string_view pem) {
  PkeyPtr key = TRY(parse_private_key(pem));
  if (!is_p256(key.get())) return Error(Code::kMalformed, "the private key is not P-256");
  return key;
}

Result<X509Ptr> parse_certificate(std::string_view der) {
  ErrorScope errors;
  const unsigned char* at = reinterpret_cast<const unsigned char*>(der.data());
  const unsigned char* end = at + der.size();
  X509Ptr certificate(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  if (!certificate || at != end) return Error(Code::kMalformed, "not a certificate in DER");
  return certificate;
}

Result<X509Ptr> parse_certificate_pem(std::string_view pem) {
  ErrorScope errors;
  BioPtr bio = bio_over(pem);
  X509Ptr certificate(PEM_read_bio_X509(bio.get(), nullptr, no_pass_phrase, nullptr));
  if (!certificate) return Error(Code::kMalformed, "not a certificate in PEM");
  return certificate;
}

std::string certificate_der(const X509* certificate) {
  unsigned char* bytes = nullptr;
  int size = i2d_X509(certificate, &bytes);
  LEASEHOLD_CHECK(size > 0, "out of memory");
  std::string der(reinterpret_cast<char*>(bytes), static_cast<size_t>(size));
  OPENSSL_free(bytes);
  return der;
}

std::string certificate_pem(const X509* certificate) {
  BioPtr bio = bio_in_memory();
  LEASEHOLD_CHECK(PEM_write_bio_X509(bio.get(), certificate) == 1, "out of memory");
  return bio_text(bio.get());
}

}  // namespace leasehold
