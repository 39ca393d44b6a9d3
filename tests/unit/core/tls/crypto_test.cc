#include "core/tls/crypto.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "core/base/bytes.h"

using namespace leasehold;

TEST_CASE("SHA-256 and HMAC-SHA-256 give the published values") {
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex_encode(sha256("")) ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  // RFC 4231, test case 2.
  CHECK(hex_encode(hmac_sha256("Jefe", "what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("a file's digest is that of its bytes, over more than one read") {
  char path[] = "/tmp/leasehold-sha-XXXXXX";
  int fd = mkstemp(path);
  REQUIRE(fd >= 0);
  std::string content(700'000, 'x');
  REQUIRE(write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
  close(fd);
  CHECK(sha256_file_hex(path).value() == sha256_hex(content));
  unlink(path);
  Result<std::string> gone = sha256_file_hex(path);
  REQUIRE_FALSE(gone.ok());
  CHECK(gone.error().code == Code::kIo);
}

TEST_CASE("a sealed value opens only with its key, unchanged and for what it belongs to") {
  SystemRandom random;
  std::string key = random.bytes(32);
  std::string sealed = seal(key, "hunter2 of the BMC", "bmc1/root/redfish/3", random);
  CHECK(sealed.size() == 12 + 18 + 16);
  CHECK(sealed.find("hunter2") == std::string::npos);
  CHECK(unseal(key, sealed, "bmc1/root/redfish/3").value() == "hunter2 of the BMC");
  CHECK(seal(key, "hunter2 of the BMC", "bmc1/root/redfish/3", random) != sealed);

  CHECK(unseal(key, sealed, "bmc2/root/redfish/3").error().code == Code::kRefused);
  CHECK(unseal(random.bytes(32), sealed, "bmc1/root/redfish/3").error().code == Code::kRefused);
  for (size_t at = 0; at < sealed.size(); ++at) {
    std::string changed = sealed;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    CHECK(unseal(key, changed, "bmc1/root/redfish/3").error().code == Code::kRefused);
  }
  CHECK(unseal(key, sealed.substr(0, 27), "x").error().code == Code::kMalformed);
}

TEST_CASE("an empty secret can be sealed, and bound to nothing") {
  SystemRandom random;
  std::string key = random.bytes(32);
  std::string sealed = seal(key, "", "", random);
  CHECK(unseal(key, sealed, "").value().empty());
  CHECK_FALSE(unseal(key, sealed, "x").ok());
}

TEST_CASE("a signature holds for its bytes and its key only") {
  KeyPair ours = generate_key();
  KeyPair other = generate_key();
  std::string signature = sign(ours.private_key_pem, "the result").value();
  CHECK(verify_signature(ours.public_key_pem, "the result", signature).ok());
  CHECK(verify_signature(ours.public_key_pem, "the Result", signature).error().code ==
        Code::kEvidenceRefused);
  CHECK(verify_signature(other.public_key_pem, "the result", signature).error().code ==
        Code::kEvidenceRefused);
  CHECK(verify_signature(ours.public_key_pem, "the result", "").error().code ==
        Code::kEvidenceRefused);
  CHECK(verify_signature(ours.public_key_pem, "the result", signature + "x").error().code ==
        Code::kEvidenceRefused);
}

TEST_CASE("what is no P-256 key is malformed, and no text of it shows in the error") {
  Result<std::string> signature = sign("-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n", "x");
  REQUIRE_FALSE(signature.ok());
  CHECK(signature.error().code == Code::kMalformed);
  CHECK(signature.error().message.find("c2VjcmV0") == std::string::npos);
  CHECK(verify_signature("", "x", "y").error().code == Code::kMalformed);
  const char* ed25519 =
      "-----BEGIN PRIVATE KEY-----\n"
      "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
      "-----END PRIVATE KEY-----\n";
  CHECK(sign(ed25519, "x").error().code == Code::kMalformed);
}
