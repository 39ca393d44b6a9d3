// Law no-stale-hand, as far as it needs no lease: the coordinator grants a site a rolling term, and
// past its end (or when the clock cannot show that it lasts) no run starts and nobody's power is
// cut. An open run goes on. The term is the row of table `authority`. Thread-safe; `may_start` is
// called inside transactions.
#pragma once

#include "agent/sync/standing.h"
#include "agent/sync/trusted_clock.h"
#include "agent/tools.h"
#include "core/db/database.h"

namespace leasehold {

class Authority : public StartGate {
 public:
  Authority(const TrustedClock& clock, const SiteStanding& standing)
      : clock_(clock), standing_(standing) {}

  // AUTHORITY_OVER, or SUPERSEDED, saying why.
  Status may_start(Sql& sql) const override;

 private:
  const TrustedClock& clock_;
  const SiteStanding& standing_;
};

}  // namespace leasehold
