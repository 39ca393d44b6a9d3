// A CSR (RFC 2986) as the authority takes it: P-256, and ECDSA with SHA-256 over itself. Read
// around OpenSSL's own reader, which decodes the key in a general way that takes longer than all
// the rest of an issuing. Used only inside core/tls; no state but a key that each thread keeps.
#pragma once

#include <string>

#include "core/base/result.h"

namespace leasehold {

// The public point (65 bytes, uncompressed) of a CSR that shows that its sender holds the key.
// MALFORMED, TOO_LARGE, INVALID_INPUT (another kind of key or signature) or FORBIDDEN (not signed
// with its own key); the field is "csr".
Result<std::string> proven_point(const std::string& csr_pem);

}  // namespace leasehold
