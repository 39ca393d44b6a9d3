// Two agents of one site never act both. The newest is the one that said hello last; if the one
// before it ran on another box, the newest waits until that one has said that it stopped, or its
// term is over, or an operator says that its box is off for good. Inside a transaction, on the
// database's thread.
#pragma once

#include <optional>

#include "coordinator/api/call.h"
#include "coordinator/store/sites.h"

namespace leasehold {

// A new instance of the site's agent said hello from `box`; `site` as it was before. `counted`: its
// number of starts was seen before, so it is a copy's even on the same box.
Status note_takeover(Sql& sql, const store::Site& site, const std::string& box, bool counted);

// The one that the newest agent waits for now.
Result<std::optional<store::SiteBox>> former_agent(Sql& sql, const std::string& site,
                                                   int64_t now_ms);
// {"heardAt","until"}, or null.
Json former_json(const std::optional<store::SiteBox>& former);

// Nobody waits for it any more.
Status former_stopped(Sql& sql, store::SiteBox former);

}  // namespace leasehold
