#include "core/tls/crypto.h"

#include <fcntl.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/bytes.h"
#include "core/base/files.h"
#include "core/tls/openssl.h"

namespace leasehold {
namespace {

constexpr size_t kKeyBytes = 32;
constexpr size_t kNonceBytes = 12;
constexpr size_t kTagBytes = 16;

const unsigned char* octets(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* octets(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

// A cipher context that has taken key, nonce and associated data.
CipherCtxPtr gcm(std::string_view key, std::string_view nonce, std::string_view bound, bool seals) {
  LEASEHOLD_CHECK(key.size() == kKeyBytes, "a sealing key has 32 bytes");
  CipherCtxPtr ctx(EVP_CIPHER_CTX_new());
  int ignored = 0;
  bool ready = ctx != nullptr &&
               EVP_CipherInit_ex(ctx.get(), EVP_aes_256_gcm(), nullptr, octets(key), octets(nonce),
                                 seals ? 1 : 0) == 1 &&
               EVP_CipherUpdate(ctx.get(), nullptr, &ignored, octets(bound),
                                static_cast<int>(bound.size())) == 1;
  LEASEHOLD_CHECK(ready, "AES-256-GCM is not available");
  return ctx;
}

}  // namespace

std::string sha256(std::string_view bytes) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  LEASEHOLD_CHECK(SHA256(octets(bytes), bytes.size(), octets(digest)) != nullptr,
                  "SHA-256 is not available");
  return digest;
}

std::string sha256_hex(std::string_view bytes) { return hex_encode(sha256(bytes)); }

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  std::string mac(SHA256_DIGEST_LENGTH, '\0');
  unsigned int size = 0;
  LEASEHOLD_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), octets(bytes),
                       bytes.size(), octets(mac), &size) != nullptr,
                  "HMAC is not available");
  return mac;
}

Result<std::string> sha256_file_hex(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    return Error(Code::kIo, "cannot open " + path + ": " + std::strerror(errno));
  }
  DigestCtxPtr ctx(EVP_MD_CTX_new());
  LEASEHOLD_CHECK(ctx && EVP_DigestInit_ex(ctx.get(), EVP_sha256(), nullptr) == 1,
                  "SHA-256 is not available");
  std::string buffer(256 << 10, '\0');
  while (true) {
    ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error(Code::kIo, "cannot read " + path + ": " + std::strerror(errno));
    if (count == 0) break;
    LEASEHOLD_CHECK(EVP_DigestUpdate(ctx.get(), buffer.data(), static_cast<size_t>(count)) == 1,
                    "SHA-256 failed");
  }
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  LEASEHOLD_CHECK(EVP_DigestFinal_ex(ctx.get(), octets(digest), nullptr) == 1, "SHA-256 failed");
  return hex_encode(digest);
}

std::string seal(std::string_view key, std::string_view secret, std::string_view bound,
                 Random& random) {
  std::string nonce = random.bytes(kNonceBytes);
  CipherCtxPtr ctx = gcm(key, nonce, bound, true);
  std::string text(secret.size(), '\0');
  std::string tag(kTagBytes, '\0');
  int size = 0;
  int last = 0;
  bool sealed = EVP_CipherUpdate(ctx.get(), octets(text), &size, octets(secret),
                                 static_cast<int>(secret.size())) == 1 &&
                EVP_CipherFinal_ex(ctx.get(), octets(text) + size, &last) == 1 &&
                EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, tag.data()) == 1;
  LEASEHOLD_CHECK(sealed, "AES-256-GCM failed");
  return nonce + text + tag;
}

Result<std::string> unseal(std::string_view key, std::string_view sealed, std::string_view bound) {
  if (sealed.size() < kNonceBytes + kTagBytes) {
    return Error(Code::kMalformed, "a sealed value has at least 28 bytes");
  }
  ErrorScope errors;
  CipherCtxPtr ctx = gcm(key, sealed.substr(0, kNonceBytes), bound, false);
  std::string_view text = sealed.substr(kNonceBytes, sealed.size() - kNonceBytes - kTagBytes);
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  std::string secret(text.size(), '\0');
  int size = 0;
  int last = 0;
  bool opened = EVP_CipherUpdate(ctx.get(), octets(secret), &size, octets(text),
                                 static_cast<int>(text.size())) == 1 &&
                EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) == 1 &&
                EVP_CipherFinal_ex(ctx.get(), octets(secret) + size, &last) == 1;
  if (!opened) {
    wipe_secret(secret);
    return Error(Code::kRefused,
                 "a sealed value does not open: the key is another, it was changed, or it was "
                 "sealed for something else");
  }
  return secret;
}

}  // namespace leasehold
