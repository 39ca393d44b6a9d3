// What a restored site does with itself once its rows have come back from the centre: no run is
// resumed, every node whose run was open or whose state is on the way is quarantined, generations
// jump past whatever was given out since, and the evidence chain goes on behind the newest number
// that is known. Inside one transaction, on the database's thread; running it twice does no harm.
#pragma once

#include "agent/store.h"
#include "core/base/clock.h"

namespace leasehold {

struct RestoreOutcome {
  std::vector<RunId> closed;  // runs that were open
  std::vector<NodeId> quarantined;
};
Result<RestoreOutcome> settle_restored(Sql& sql, Clock& clock, Random& random);

}  // namespace leasehold
