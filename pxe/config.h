// The configuration file of leasehold-bootd, read and checked as a whole before anything is opened.
// Values only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace leasehold {

struct BootdConfig {
  std::string control_socket;
  std::vector<int64_t> control_uids;  // who may arm; at least one
  std::string listen_host;            // numeric address on the provisioning network
  uint16_t listen_port = 0;           // 0: any free one
  std::string public_url;             // what scripts name; empty: http://listen_host:port
  std::string image_dir;
};

// CONFIG names the file and the key, and for an unknown key the nearest known one.
Result<BootdConfig> read_bootd_config(const std::string& path);
// The URL that scripts name, once the port is known.
std::string public_url_of(const BootdConfig& config, uint16_t port);

}  // namespace leasehold
