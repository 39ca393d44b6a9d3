// The agent's configuration: one JSON file, unknown keys refused with the nearest name. Everything
// it names is read and checked before the agent serves. Values only.
#pragma once

#include <string>
#include <vector>

#include "agent/tools.h"
#include "core/base/result.h"

namespace leasehold {

struct AgentConfig {
  std::string state_dir;  // site.db and the crash record lie here
  std::string vault_key_file;
  std::string local_socket;  // the site API
  std::vector<int64_t> local_uids;
  std::string gateway_socket;
  std::vector<int64_t> gateway_uids;
  std::string bootd_socket;
  SiteIdentity identity;

  std::string database_path() const { return state_dir + "/site.db"; }
  std::string crash_file() const { return state_dir + "/crashes"; }
};

// CONFIG naming the file and what to correct.
Result<AgentConfig> read_agent_config(const std::string& path);

}  // namespace leasehold
