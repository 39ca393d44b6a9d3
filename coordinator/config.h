// The coordinator's configuration (docs/coordinator-api.md section 3) with the files that it names,
// read and held against each other at start: whoever has the wrong key or an expired certificate
// reads that before anything is served. Read once, by main().
#pragma once

#include <string>

#include "core/base/clock.h"
#include "core/tls/ca_files.h"

namespace leasehold {

struct CoordinatorConfig {
  std::string domain;
  std::string state_dir;
  std::string listen_host;
  uint16_t listen_port = 0;
  std::string url;  // what sites are told
  std::string root_pem;
  std::string root_sha256;
  CaKey issuing;
  LeafFiles leaf;  // its own certificate and key

  std::string database_path() const { return state_dir + "/coordinator.db"; }
};

// CONFIG, naming the file and what to do.
Result<CoordinatorConfig> read_coordinator_config(const std::string& path, Clock& clock);

}  // namespace leasehold
