// A self-signed P-256 certificate as a BMC makes one for itself: no authority, a common name that
// says little, good for ten years. Made with OpenSSL directly: what the agent pins must not come
// from the code that issues our own certificates.
#pragma once

#include <string>

#include "core/base/result.h"

namespace leasehold::simsite {

struct BmcCertificate {
  std::string certificate_pem;
  std::string private_key_pem;
  std::string sha256_hex;  // of the DER: the pin
};

Result<BmcCertificate> make_bmc_certificate(const std::string& common_name);

}  // namespace leasehold::simsite
