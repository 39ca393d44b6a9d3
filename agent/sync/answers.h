// A coordinator's answer as a value: the body of a good one, the error of any other. Values only,
// any thread.
#pragma once

#include "core/base/json.h"
#include "core/http/message.h"

namespace leasehold {

// What it answered with 2xx (an empty body is null); else its {"code","message","field"}, or
// UNAVAILABLE if it sent none (something stands in between).
Result<Json> answer_of(const HttpResponse& response);

}  // namespace leasehold
