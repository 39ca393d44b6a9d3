#include "agent/sync/standing.h"

#include <array>

#include "core/base/log.h"

namespace leasehold {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"alone",   "starting", "restoring",
                                                    "waiting", "acting",   "superseded"};
static_assert(static_cast<size_t>(Standing::kSuperseded) + 1 == kNames.size());

}  // namespace

std::string_view standing_name(Standing standing) { return kNames[static_cast<size_t>(standing)]; }

void SiteStanding::set(Standing standing, const std::string& why) {
  {
    std::lock_guard lock(mutex_);
    if (standing_ == Standing::kSuperseded || (standing == standing_ && why == why_)) return;
    standing_ = standing;
    why_ = why;
  }
  bool over = standing == Standing::kSuperseded;
  log_line(over ? LogEvent::kSiteSuperseded : LogEvent::kSiteStanding,
           Json{{"standing", standing_name(standing)}, {"why", scrubbed(why)}});
}

Standing SiteStanding::get() const {
  std::lock_guard lock(mutex_);
  return standing_;
}

std::string SiteStanding::why() const {
  std::lock_guard lock(mutex_);
  return why_;
}

Status SiteStanding::may_begin() const {
  std::lock_guard lock(mutex_);
  switch (standing_) {
    case Standing::kAlone:
    case Standing::kActing:
      return {};
    case Standing::kSuperseded:
      return Error(Code::kSuperseded, why_);
    default:
      return Error(Code::kUnavailable, "this site begins nothing yet (" +
                                           std::string(standing_name(standing_)) + "): " + why_);
  }
}

}  // namespace leasehold
