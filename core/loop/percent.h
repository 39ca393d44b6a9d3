// Percent encoding (RFC 3986 section 2.1), decoding strictly. Values only, any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace leasehold {

// INVALID_INPUT if a "%" is not followed by two hex digits.
Result<std::string> percent_decode(std::string_view text);

}  // namespace leasehold
