// Law no-stale-hand, as far as it needs no lease: the coordinator grants a site a rolling term, and
// past its end (or when the clock cannot show that it lasts) no run starts and nobody's power is
// cut. An open run goes on. The term is the row of table `authority`. Thread-safe; `may_start` is
// called inside transactions.
#pragma once

#include "agent/sync/trusted_clock.h"
#include "agent/tools.h"
#include "core/db/database.h"

namespace leasehold {

class Authority : public StartGate {
 public:
  explicit Authority(const TrustedClock& clock) : clock_(clock) {}

  // AUTHORITY_OVER saying why.
  Status may_start(Sql& sql) const override;

 private:
  const TrustedClock& clock_;
};

}  // namespace leasehold
