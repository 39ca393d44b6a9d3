// DSSE (github.com/secure-systems-lab/dsse, v1) with exactly one signature: ECDSA P-256 with
// SHA-256 over the PAE, in DER, keyid empty. The chain of the signer stands beside the envelope,
// never inside. Values only, no state, any thread; never judges who signed (signer.h does).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"

namespace leasehold {

inline constexpr std::string_view kInTotoPayloadType = "application/vnd.in-toto+json";
inline constexpr std::string_view kHelloPayloadType = "application/vnd.leasehold.hello+json";

struct DsseEnvelope {
  std::string payload_type;
  std::string payload;    // raw bytes
  std::string signature;  // raw bytes (DER)

  // {"payload": b64, "payloadType", "signatures": [{"keyid": "", "sig": b64}]}
  Json to_json() const;
  // MALFORMED for anything but exactly this form: unknown members, two signatures, a keyid, base64
  // with slack.
  static Result<DsseEnvelope> from_json(const Json& json);
  // SHA-256 (hex) of the canonical JSON: the name of a result.
  std::string digest() const;
  bool operator==(const DsseEnvelope&) const = default;
};

// What is signed: "DSSEv1 <len> <type> <len> <payload>".
std::string dsse_pae(std::string_view payload_type, std::string_view payload);
Result<DsseEnvelope> dsse_sign(const std::string& private_key_pem, std::string_view payload_type,
                               std::string_view payload);
// EVIDENCE_REFUSED if the signature does not hold for this key.
Status dsse_verify(const DsseEnvelope& envelope, const std::string& public_key_pem);

// An envelope and its signer's chain: PEM, one certificate per element, leaf first.
struct SignedEnvelope {
  DsseEnvelope envelope;
  std::vector<std::string> chain_pem;

  Json to_json() const;  // {"envelope", "chain"}
  static Result<SignedEnvelope> from_json(const Json& json);
  bool operator==(const SignedEnvelope&) const = default;
};

// Cuts the PEM text of a chain (issue_leaf's, a file's) into its certificates.
Result<std::vector<std::string>> split_chain(const std::string& chain_pem);

}  // namespace leasehold
