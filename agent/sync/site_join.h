// `leasehold-agent site join`: makes a site's keys here, has them certified by the coordinator with
// a technician's one-time token, and writes the identity files. The coordinator proves itself
// before the token leaves: the root that it shows must have the SHA-256 that the technician was
// given, and its own chain must be judged `coordinator` for the URL's host under that root.
// Blocking; never logs or writes the token.
#pragma once

#include <string>
#include <vector>

#include "agent/sync/coordinator_place.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/http/message.h"

namespace leasehold {

struct SiteJoinOptions {
  std::string coordinator;  // URL
  std::string address;      // or ""
  std::string site;
  std::string token;
  std::string root_sha256;               // 64 hex digits; colons and capitals are taken as well
  std::vector<std::string> gateway_dns;  // what machines will call the gateway
  std::vector<std::string> gateway_ips;
  std::string out;  // the folder to make
};

// The members `identity`, `coordinator`, `site` and `domain` for the agent's configuration. An
// error of the coordinator comes back as it is; after it nothing lies at `out`.
Result<Json> site_join(const SiteJoinOptions& options, HttpClient& http, Clock& clock,
                       Random& random);

}  // namespace leasehold
