// Owning pointers over OpenSSL's objects and the few conversions that the bodies of this folder
// share. Used only inside core/tls; no other room includes it. Thread-safe (no state). Never lets
// OpenSSL ask a terminal for a pass phrase.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace leasehold {

template <auto Free>
struct OpensslFree {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

struct X509StackFree {  // of a stack that only borrows its certificates
  void operator()(STACK_OF(X509) * stack) const { sk_X509_free(stack); }
};

using BioPtr = std::unique_ptr<BIO, OpensslFree<BIO_free_all>>;
using BignumPtr = std::unique_ptr<BIGNUM, OpensslFree<BN_free>>;
using PkeyPtr = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;
using DigestCtxPtr = std::unique_ptr<EVP_MD_CTX, OpensslFree<EVP_MD_CTX_free>>;
using CipherCtxPtr = std::unique_ptr<EVP_CIPHER_CTX, OpensslFree<EVP_CIPHER_CTX_free>>;
using X509Ptr = std::unique_ptr<X509, OpensslFree<X509_free>>;
using X509StackPtr = std::unique_ptr<STACK_OF(X509), X509StackFree>;
using CsrPtr = std::unique_ptr<X509_REQ, OpensslFree<X509_REQ_free>>;
using GeneralNamesPtr = std::unique_ptr<GENERAL_NAMES, OpensslFree<GENERAL_NAMES_free>>;
using NameConstraintsPtr = std::unique_ptr<NAME_CONSTRAINTS, OpensslFree<NAME_CONSTRAINTS_free>>;

// OpenSSL's error queue belongs to the thread, and a stale entry makes SSL_get_error lie about the
// next connection: what a scope adds, it takes away.
class ErrorScope {
 public:
  ErrorScope() { ERR_set_mark(); }
  ~ErrorScope() { ERR_pop_to_mark(); }
  ErrorScope(const ErrorScope&) = delete;
  ErrorScope& operator=(const ErrorScope&) = delete;
};

BioPtr bio_over(std::string_view bytes);  // read-only; the bytes must outlive it
BioPtr bio_in_memory();
std::string bio_text(BIO* bio);
std::string_view asn1_bytes(const ASN1_STRING* string);

// Any type of key; MALFORMED.
Result<PkeyPtr> parse_private_key(std::string_view pem);
bool is_p256(const EVP_PKEY* key);
// MALFORMED unless it is a P-256 key.
Result<PkeyPtr> parse_p256_key(std::string_view pem);

// Exactly one certificate, no byte more; MALFORMED.
Result<X509Ptr> parse_certificate(std::string_view der);
// The first certificate of a PEM text; MALFORMED.
Result<X509Ptr> parse_certificate_pem(std::string_view pem);
std::string certificate_der(const X509* certificate);
std::string certificate_pem(const X509* certificate);

}  // namespace leasehold
