// What this agent may do at its site, in one word, and why: decided by the start (start.h), read by
// every door. Thread-safe; owned by main().
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace leasehold {

enum class Standing {
  kAlone,      // no coordinator is configured: it acts
  kStarting,   // nobody knows yet whether it may
  kRestoring,  // a copy or a backup: its rows come back first
  kWaiting,    // it may act, but its term is over: open runs wait to be resumed
  kActing,
  kSuperseded,  // a newer agent of this site is at work: nothing any more
};
std::string_view standing_name(Standing standing);

class SiteStanding {
 public:
  explicit SiteStanding(Standing first) : standing_(first) {}

  // Logs a change. Once superseded it stays so.
  void set(Standing standing, const std::string& why);
  Standing get() const;
  std::string why() const;
  bool superseded() const { return get() == Standing::kSuperseded; }
  // UNAVAILABLE or SUPERSEDED saying why nothing can be begun here now.
  Status may_begin() const;

 private:
  mutable std::mutex mutex_;
  Standing standing_;
  std::string why_;
};

}  // namespace leasehold
