// The noun `events` and the noun `audit`: what sites and operators did, one line each.
#pragma once

#include <cstdint>
#include <string>

#include "coordinator/cli/session.h"

namespace leasehold {

struct EventsOptions {
  std::string site;
  std::string node;     // the node's id within its site
  int64_t after = -1;   // -1: the newest `last`
  size_t last = 50;     // 0: all
  bool follow = false;  // and then each as it comes, through restarts of the coordinator
};
Status events(Session& session, const EventsOptions& options);

struct AuditOptions {
  int64_t after = -1;
  size_t last = 50;
};
Status audit(Session& session, const AuditOptions& options);

}  // namespace leasehold
