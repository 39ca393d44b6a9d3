// Seals and opens the secrets of a site (AES-256-GCM under the vault key, a file of mode 0600 that
// backups leave out). A sealed value is bound to what it belongs to and opens nowhere else. Every
// secret that is opened or made here is registered with the log's scrubber. Thread-safe.
#pragma once

#include <string>

#include "agent/private_rows.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/rows/site_rows.h"

namespace leasehold {

class Vault {
 public:
  // CONFIG if the key file is missing, readable by others or not 32 bytes (as hex or raw).
  static Result<Vault> open(const std::string& key_file, Random& random);
  // Writes a new key file of mode 0600; CONFLICT if one exists.
  static Status create_key_file(const std::string& key_file, Random& random);

  std::string seal_text(const std::string& secret, const std::string& bound) const;  // base64
  Result<std::string> open_text(const std::string& sealed, const std::string& bound) const;

  // A version, pending, of what a person says opens the node's BMC as the node has it now.
  VaultVersion version_for(const NodeRow& node, int64_t number, const std::string& password) const;
  // The next version of a credential, pending, made by a run.
  VaultVersion new_version(const VaultVersion& like, int64_t number, const std::string& password,
                           const std::string& run) const;
  Result<std::string> password_of(const VaultVersion& version) const;

 private:
  Vault(std::string key, Random& random) : key_(std::move(key)), random_(&random) {}
  std::string key_;
  Random* random_;
};

// A password that every BMC's policy takes (quirks A6, A7): 16 bytes, first one alphanumeric, with
// upper case, lower case, a digit and one of "-_.+".
std::string generate_bmc_password(Random& random);

}  // namespace leasehold
