#include "agent/vault.h"

#include <unistd.h>

#include "core/base/bytes.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/tls/crypto.h"

namespace leasehold {
namespace {

constexpr size_t kKeyBytes = 32;
constexpr size_t kPasswordBytes = 16;
constexpr std::string_view kLower = "abcdefghijkmnopqrstuvwxyz";
constexpr std::string_view kUpper = "ABCDEFGHJKLMNPQRSTUVWXYZ";
constexpr std::string_view kDigits = "23456789";
constexpr std::string_view kMarks = "-_.+";

// Without modulo bias: bytes that would favour some characters are thrown away.
char pick(Random& random, std::string_view alphabet) {
  size_t limit = 256 - 256 % alphabet.size();
  while (true) {
    auto byte = static_cast<unsigned char>(random.bytes(1)[0]);
    if (byte < limit) return alphabet[byte % alphabet.size()];
  }
}

}  // namespace

Result<Vault> Vault::open(const std::string& key_file, Random& random) {
  if (::access(key_file.c_str(), F_OK) != 0) {
    return Error(Code::kConfig,
                 key_file +
                     " does not exist: restore it from the backup that belongs to "
                     "this database; for a new site run: leasehold-agent vault init " +
                     key_file);
  }
  std::string text = TRY(read_secret_file(key_file, 256));
  Result<std::string> key = hex_decode(text);
  if (!key.ok() || key.value().size() != kKeyBytes) {
    return Error(Code::kConfig, key_file + " is not a vault key (64 hex digits); restore the key " +
                                    "file that belongs to this database");
  }
  return Vault(std::move(key).value(), random);
}

Status Vault::create_key_file(const std::string& key_file, Random& random) {
  if (::access(key_file.c_str(), F_OK) == 0) {
    return Error(Code::kConflict, key_file + " exists already; it is never overwritten");
  }
  return write_file_atomic(key_file, hex_encode(random.bytes(kKeyBytes)) + "\n", 0600);
}

std::string Vault::seal_text(const std::string& secret, const std::string& bound) const {
  log_scrub(secret);
  return base64_encode(seal(key_, secret, bound, *random_));
}

Result<std::string> Vault::open_text(const std::string& sealed, const std::string& bound) const {
  std::string bytes = TRY(base64_decode(sealed));
  Result<std::string> secret = unseal(key_, bytes, bound);
  if (!secret.ok()) {
    return Error(Code::kDatabase,
                 "a sealed secret does not open; is the vault key the one of this database?");
  }
  log_scrub(secret.value());
  return secret;
}

VaultVersion Vault::version_for(const NodeRow& node, int64_t number,
                                const std::string& password) const {
  VaultVersion version;
  version.node = node.id;
  version.bmc_url = node.bmc_url;
  version.account = node.bmc_user;
  version.protocol = "redfish";
  return new_version(version, number, password, "");
}

VaultVersion Vault::new_version(const VaultVersion& like, int64_t number,
                                const std::string& password, const std::string& run) const {
  VaultVersion version = like;
  version.number = number;
  version.version_key = like.node.str() + "-" + like.protocol + "-" + std::to_string(number);
  version.state = VersionState::kPending;
  version.run = run;
  version.sealed = seal_text(password, version.bound());
  return version;
}

Result<std::string> Vault::password_of(const VaultVersion& version) const {
  return open_text(version.sealed, version.bound());
}

std::string generate_bmc_password(Random& random) {
  const std::string letters = std::string(kLower) + std::string(kUpper) + std::string(kDigits);
  std::string password;
  password += pick(random, kUpper);
  password += pick(random, kLower);
  password += pick(random, kDigits);
  password += pick(random, kMarks);
  while (password.size() < kPasswordBytes) password += pick(random, letters);
  return password;
}

}  // namespace leasehold
