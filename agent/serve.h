// The agent's daemon: reads its configuration, opens vault and database, goes on with the open
// runs, and serves its two sockets until it is told to stop.
#pragma once

#include <string>

#include "core/base/result.h"

namespace leasehold {

// Blocks until SIGTERM or SIGINT. An error says what to correct; nothing was served then.
Status serve_site(const std::string& config_path);

}  // namespace leasehold
