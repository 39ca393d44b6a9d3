// The configuration file of leasehold-gateway, read and checked as a whole before anything is
// opened. Values only; holds the server's private key.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/tls/tls.h"

namespace leasehold {

struct GatewayConfig {
  std::string listen_host;   // numeric address
  uint16_t listen_port = 0;  // 0: any free one
  TlsServerConfig tls;
  std::string certificate_file;  // replaced when it was renewed
  std::string agent_socket;
};

// CONFIG names the file and the key, and for an unknown key the nearest known one. The private
// key's file must be readable by its owner only.
Result<GatewayConfig> read_gateway_config(const std::string& path);

}  // namespace leasehold
