// The agent's configuration: one JSON file, unknown keys refused with the nearest name. Everything
// it names is read and checked before the agent serves. Values only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/sync/coordinator_place.h"
#include "agent/tools.h"
#include "core/base/result.h"

namespace leasehold {

// Where the site's certificates and keys lie: a renewal replaces them.
struct IdentityPaths {
  std::string root;
  std::string site_cas;
  std::string site_ca;
  std::string site_ca_key;
  std::string certificate;
  std::string private_key;
};
// Everything of SiteIdentity that comes from these files; what it had is kept.
Status read_identity_files(const IdentityPaths& paths, SiteIdentity& identity);

struct AgentConfig {
  std::string state_dir;  // site.db and the crash record lie here
  std::string vault_key_file;
  std::string local_socket;  // the site API
  std::vector<int64_t> local_uids;
  std::string gateway_socket;
  std::vector<int64_t> gateway_uids;
  std::string bootd_socket;
  std::optional<CoordinatorPlace> coordinator;  // none: the site is told over its local socket
  IdentityPaths identity_files;
  SiteIdentity identity;

  std::string database_path() const { return state_dir + "/site.db"; }
  std::string crash_file() const { return state_dir + "/crashes"; }
};

// CONFIG naming the file and what to correct.
Result<AgentConfig> read_agent_config(const std::string& path);

}  // namespace leasehold
