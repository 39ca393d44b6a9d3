// The bundle of a run out of a site's `result` rows: at the site for its own gate, at the
// coordinator for the clearance and for whoever asks for it. Values only, any thread; judges
// nothing.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/rows/result_row.h"

namespace leasehold {

// One canonical text. NOT_FOUND without run evidence, or without a result that it names.
Result<std::string> bundle_of(const std::vector<ResultRow>& rows, Json receipt = {});

}  // namespace leasehold
