#include "core/evidence/dsse.h"

#include "core/base/bytes.h"
#include "core/evidence/strict_object.h"
#include "core/tls/crypto.h"
#include "core/tls/x509.h"

namespace leasehold {
namespace {

struct Signature {
  std::string bytes;
};

Result<Signature> parse_signature(const Json& json) {
  StrictObject object(json, "signature", {"keyid", "sig"});
  // The keyid is not covered by the signature, so it has one value.
  if (!object.text("keyid").empty()) object.fail("keyid", "is not empty");
  auto bytes = base64_decode(object.text("sig"));
  if (!bytes.ok()) object.fail("sig", "is not base64");
  TRY(object.status());
  return Signature{std::move(bytes).value()};
}

}  // namespace

Json DsseEnvelope::to_json() const {
  return {{"payload", base64_encode(payload)},
          {"payloadType", payload_type},
          {"signatures", Json::array({{{"keyid", ""}, {"sig", base64_encode(signature)}}})}};
}

Result<DsseEnvelope> DsseEnvelope::from_json(const Json& json) {
  StrictObject object(json, "envelope", {"payload", "payloadType", "signatures"});
  DsseEnvelope envelope;
  envelope.payload_type = object.filled("payloadType");
  auto payload = base64_decode(object.text("payload"));
  if (!payload.ok()) object.fail("payload", "is not base64");
  auto signatures = object.list<Signature>("signatures", parse_signature);
  if (signatures.size() != 1) object.fail("signatures", "holds not exactly one");
  TRY(object.status());
  envelope.payload = std::move(payload).value();
  envelope.signature = signatures[0].bytes;
  return envelope;
}

// Base64 and a media type: dump_json cannot meet anything here that canonical_json would refuse.
std::string DsseEnvelope::digest() const { return sha256_hex(dump_json(to_json())); }

std::string dsse_pae(std::string_view payload_type, std::string_view payload) {
  std::string out = "DSSEv1 ";
  out += std::to_string(payload_type.size()) + " ";
  out += payload_type;
  out += " " + std::to_string(payload.size()) + " ";
  out += payload;
  return out;
}

Result<DsseEnvelope> dsse_sign(const std::string& private_key_pem, std::string_view payload_type,
                               std::string_view payload) {
  DsseEnvelope envelope{std::string(payload_type), std::string(payload), {}};
  envelope.signature = TRY(sign(private_key_pem, dsse_pae(payload_type, payload)));
  return envelope;
}

Status dsse_verify(const DsseEnvelope& envelope, const std::string& public_key_pem) {
  return verify_signature(public_key_pem, dsse_pae(envelope.payload_type, envelope.payload),
                          envelope.signature);
}

Json SignedEnvelope::to_json() const {
  return {{"envelope", envelope.to_json()}, {"chain", chain_pem}};
}

Result<SignedEnvelope> SignedEnvelope::from_json(const Json& json) {
  StrictObject object(json, "signed envelope", {"envelope", "chain"});
  SignedEnvelope out;
  out.envelope = object.nested<DsseEnvelope>("envelope", DsseEnvelope::from_json);
  out.chain_pem = object.texts("chain");
  TRY(object.status());
  return out;
}

Result<std::vector<std::string>> split_chain(const std::string& chain_pem) {
  std::vector<std::string> out;
  for (const std::string& der : TRY(pem_to_der(chain_pem))) out.push_back(der_to_pem(der));
  return out;
}

}  // namespace leasehold
