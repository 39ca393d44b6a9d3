// The noun `ca` of the command line. `ca init` works offline: it makes the certificate authorities
// of a domain with its first site, and the leaves of that site's daemons, as files.
#pragma once

#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"

namespace CLI {
class App;
}

namespace leasehold {

void add_ca_command(CLI::App& app);

struct CaInitOptions {
  std::string domain;
  std::string site;
  std::vector<std::string> gateway_dns;  // empty: gateway.<site>.<domain>
  std::vector<std::string> gateway_ips;
  std::string out;  // a folder that does not exist yet, or is empty
};

// CONFLICT if `out` already holds anything; INVALID_INPUT. All files appear at once or none does.
Status ca_init(const CaInitOptions& options, Clock& clock, Random& random);

}  // namespace leasehold
