#include "core/tls/crypto.h"
#include "core/tls/openssl.h"

namespace leasehold {

KeyPair generate_key() {
  PkeyPtr key(EVP_EC_gen("P-256"));
  LEASEHOLD_CHECK(key != nullptr, "P-256 is not available");
  BioPtr secret = bio_in_memory();
  BioPtr open = bio_in_memory();
  bool written = PEM_write_bio_PKCS8PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0,
                                               nullptr, nullptr) == 1 &&
                 PEM_write_bio_PUBKEY(open.get(), key.get()) == 1;
  LEASEHOLD_CHECK(written, "out of memory");
  return {bio_text(secret.get()), bio_text(open.get())};
}

Result<std::string> sign(const std::string& private_key_pem, std::string_view bytes) {
  PkeyPtr key = TRY(parse_p256_key(private_key_pem));
  DigestCtxPtr ctx(EVP_MD_CTX_new());
  const unsigned char* data = reinterpret_cast<const unsigned char*>(bytes.data());
  std::string signature(static_cast<size_t>(EVP_PKEY_get_size(key.get())), '\0');
  size_t size = signature.size();
  bool signed_ = ctx &&
                 EVP_DigestSignInit(ctx.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
                 EVP_DigestSign(ctx.get(), reinterpret_cast<unsigned char*>(signature.data()),
                                &size, data, bytes.size()) == 1;
  LEASEHOLD_CHECK(signed_, "ECDSA failed");
  signature.resize(size);
  return signature;
}

Status verify_signature(const std::string& public_key_pem, std::string_view bytes,
                        std::string_view signature_der) {
  ErrorScope errors;
  BioPtr bio = bio_over(public_key_pem);
  PkeyPtr key(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr));
  if (!key || !is_p256(key.get())) {
    return Error(Code::kMalformed, "not a P-256 public key in PEM");
  }
  DigestCtxPtr ctx(EVP_MD_CTX_new());
  LEASEHOLD_CHECK(
      ctx && EVP_DigestVerifyInit(ctx.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1,
      "ECDSA is not available");
  int verdict = EVP_DigestVerify(
      ctx.get(), reinterpret_cast<const unsigned char*>(signature_der.data()), signature_der.size(),
      reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  if (verdict != 1) return Error(Code::kEvidenceRefused, "the signature does not hold");
  return {};
}

}  // namespace leasehold
