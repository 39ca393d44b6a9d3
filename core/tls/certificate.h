// What the authority reads out of one certificate: its role as a CA, its names, its validity. Used
// by issue and judge alike, so that both see the same thing. Used only inside core/tls; no state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tls/matrix.h"
#include "core/tls/openssl.h"
#include "core/tls/x509.h"

namespace leasehold {

// Role by form: root (self-issued), issuing (path length 1, no name constraints) or site (path
// length 0, exactly our name constraints). Anything else is kNone. A form is a claim until the
// certificate is verified.
struct CaForm {
  CaRole role = CaRole::kNone;
  std::string site_host;  // "<site>.<domain>", of a site CA
};
CaForm ca_form(X509* certificate);

// The critical name constraints of a site CA: the host permitted, all DNS and IP excluded.
NameConstraintsPtr site_constraints(const std::string& site_host);

struct AltNames {
  bool readable = false;  // exactly one SAN extension that parses
  std::vector<std::string> uris;
  size_t hosts = 0;   // DNS and IP
  size_t others = 0;  // e-mail, directory names, ...
};
AltNames alt_names(const X509* certificate);

Validity validity_of(const X509* certificate);
std::string serial_hex(const X509* certificate);
std::string public_key_pem(const X509* certificate);
bool has_p256_key(const X509* certificate);

}  // namespace leasehold
