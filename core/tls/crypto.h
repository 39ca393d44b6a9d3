// Small values of OpenSSL: digests, MACs, sealing (AES-256-GCM) and P-256 keys as PEM. No state,
// thread-safe. Failures of OpenSSL itself (out of memory) abort.
#pragma once

#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/result.h"

namespace leasehold {

std::string sha256(std::string_view bytes);      // 32 bytes
std::string sha256_hex(std::string_view bytes);  // 64 hex digits
std::string hmac_sha256(std::string_view key, std::string_view bytes);
Result<std::string> sha256_file_hex(const std::string& path);

// AES-256-GCM with a random 96-bit nonce: nonce | ciphertext | tag. `key` is 32 bytes. `bound` is
// associated data: what the secret belongs to, so that a sealed value moved elsewhere does not
// open.
std::string seal(std::string_view key, std::string_view secret, std::string_view bound,
                 Random& random);
Result<std::string> unseal(std::string_view key, std::string_view sealed, std::string_view bound);

// P-256 (ECDSA with SHA-256; signatures in DER, RFC 3279).
struct KeyPair {
  std::string private_key_pem;  // PKCS #8
  std::string public_key_pem;   // SubjectPublicKeyInfo
};
KeyPair generate_key();
Result<std::string> sign(const std::string& private_key_pem, std::string_view bytes);
// EVIDENCE_REFUSED if the signature does not hold; MALFORMED if the key is none.
Status verify_signature(const std::string& public_key_pem, std::string_view bytes,
                        std::string_view signature_der);

}  // namespace leasehold
