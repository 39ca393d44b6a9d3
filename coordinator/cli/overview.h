// `whoami` and `status`: who asks, and the whole installation at a glance.
#pragma once

#include "coordinator/cli/session.h"

namespace leasehold {

Status whoami(Session& session);
Status overview(Session& session);

}  // namespace leasehold
