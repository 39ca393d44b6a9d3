// The noun `site`: its verbs, without the command line's library. Each prints its answer, or
// returns why there is none.
#pragma once

#include <string>

#include "coordinator/cli/session.h"

namespace leasehold {

Status site_create(Session& session, const std::string& site);
Status site_list(Session& session);
Status site_show(Session& session, const std::string& site);
// Says to the coordinator that the box of the site's former agent is off for good.
Status site_takeover(Session& session, const std::string& site, bool yes);

struct SiteTokenOptions {
  std::string site;
  std::string out;  // file for the token, mode 0600; "": it is printed
};
// The token is printed or written here, and never again.
Status site_token(Session& session, const SiteTokenOptions& options);

}  // namespace leasehold
