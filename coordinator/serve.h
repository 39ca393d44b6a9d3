// `leasehold-coordinator serve`: builds every object in order, serves until it is told to stop.
#pragma once

#include <string>

#include "core/base/result.h"

namespace leasehold {

Status serve_coordinator(const std::string& config_path);

}  // namespace leasehold
