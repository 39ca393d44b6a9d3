// The pieces of a certificate in the making: serial, times, extensions, names, signature. They know
// nothing of who may issue what; only issue.cc calls them for the product. Used only inside
// core/tls; no state. What cannot fail but for memory aborts.
#pragma once

#include <string>
#include <string_view>

#include "core/tls/openssl.h"
#include "core/tls/x509.h"

namespace leasehold {

// With a random serial number of 128 bits.
X509Ptr new_certificate(EVP_PKEY* public_key, const Validity& validity);
// For the P-256 key with this point (65 bytes): as above, without OpenSSL's slow encoder.
X509Ptr new_certificate(std::string_view p256_point, const Validity& validity);
// Extensions in OpenSSL's own words; `issuer` is the certificate itself for a root.
void extend(X509* certificate, X509* issuer, int nid, const char* value);
// DC=net, DC=example, DC=s1, CN=...: a CN alone may not be as long as a domain is.
void name_ca(X509* certificate, const std::string& host, const char* common_name);
void sign_certificate(X509* certificate, X509* issuer, EVP_PKEY* key);

// A name of a text type or an IP (4 or 16 bytes, with a mask 8 or 32), owned by the caller.
GENERAL_NAME* general_name(int type, std::string_view bytes);
void add_name(GENERAL_NAMES* names, int type, std::string_view bytes);

}  // namespace leasehold
