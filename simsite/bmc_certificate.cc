#include "simsite/bmc_certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string_view>

#include "core/base/bytes.h"

namespace leasehold::simsite {
namespace {

constexpr long kTenYearsSeconds = 10L * 365 * 24 * 3600;

template <auto free_function>
struct Free {
  template <class T>
  void operator()(T* object) const {
    free_function(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Memory = std::unique_ptr<BIO, Free<BIO_free_all>>;

std::string contents(BIO* memory) {
  char* data = nullptr;
  long length = BIO_get_mem_data(memory, &data);
  return std::string(data, static_cast<size_t>(length));
}

bool add_extension(X509* certificate, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool fill(X509* certificate, EVP_PKEY* key, const std::string& common_name) {
  X509_set_version(certificate, X509_VERSION_3);
  std::unique_ptr<BIGNUM, Free<BN_free>> serial(BN_new());
  bool ok = serial && BN_rand(serial.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
            BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate)) != nullptr;
  // A day back: the clock of whoever looks may be behind.
  ok = ok && X509_gmtime_adj(X509_getm_notBefore(certificate), -86400) != nullptr &&
       X509_gmtime_adj(X509_getm_notAfter(certificate), kTenYearsSeconds) != nullptr;
  X509_NAME* name = X509_get_subject_name(certificate);
  ok = ok && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                        reinterpret_cast<const unsigned char*>(common_name.c_str()),
                                        -1, -1, 0) == 1;
  ok = ok && X509_set_issuer_name(certificate, name) == 1;
  ok = ok && X509_set_pubkey(certificate, key) == 1;
  ok = ok && add_extension(certificate, NID_subject_alt_name, "IP:127.0.0.1");
  return ok && X509_sign(certificate, key, EVP_sha256()) > 0;
}

}  // namespace

Result<BmcCertificate> make_bmc_certificate(const std::string& common_name) {
  Error failed(Code::kInternal, "OpenSSL cannot make a certificate");
  Key key(EVP_EC_gen("P-256"));
  Certificate certificate(X509_new());
  if (!key || !certificate || !fill(certificate.get(), key.get(), common_name)) return failed;
  Memory certificate_text(BIO_new(BIO_s_mem()));
  Memory key_text(BIO_new(BIO_s_mem()));
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  bool ok = PEM_write_bio_X509(certificate_text.get(), certificate.get()) == 1 &&
            PEM_write_bio_PKCS8PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                          nullptr) == 1 &&
            X509_digest(certificate.get(), EVP_sha256(), digest, &length) == 1;
  if (!ok) return failed;
  std::string_view bytes(reinterpret_cast<const char*>(digest), length);
  return BmcCertificate{contents(certificate_text.get()), contents(key_text.get()),
                        hex_encode(bytes)};
}

}  // namespace leasehold::simsite
