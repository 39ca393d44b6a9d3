// `ca init`, without the command line's library. It works offline: it makes the certificate
// authorities of a domain with its first site, and the leaves of the daemons and of the first
// operator, as files.
#pragma once

#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"

namespace leasehold {

struct CaInitOptions {
  std::string domain;
  std::string site;
  std::vector<std::string> gateway_dns;  // empty: gateway.<site>.<domain>
  std::vector<std::string> gateway_ips;
  std::vector<std::string> coordinator_dns;  // empty: coordinator.<domain>
  std::vector<std::string> coordinator_ips;
  std::string operator_name = "admin";
  std::string out;  // a folder that does not exist yet, or is empty
};

// CONFLICT if `out` already holds anything; INVALID_INPUT. All files appear at once or none does.
Status ca_init(const CaInitOptions& options, Clock& clock, Random& random);

}  // namespace leasehold
