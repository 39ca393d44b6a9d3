// The agent's timeline as lines for a terminal: one event of a run's life per line, or nothing for
// those that only move the engine on. Values only.
#pragma once

#include <string>

#include "core/base/json.h"

namespace leasehold {

// "1.4 s", "12 ms".
std::string took_text(int64_t ms);
std::string event_line(const Json& event);
bool is_success(const Json& finished_event);

}  // namespace leasehold
