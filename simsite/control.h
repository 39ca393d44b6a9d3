// The control socket of a simulated site (docs/protocols.md section 6): what tests and the demo see
// and do from outside the simulated world, and where the tool shims ask. Functions over the site,
// on the loop's thread.
#pragma once

#include <string>
#include <vector>

#include "core/loop/http_server.h"
#include "simsite/site.h"

namespace leasehold::simsite {

// Everything but the tools.
HttpResponse control_answer(Site& site, const ServerRequest& request);

// The machine of a `POST /machines/NAME/tools`, or null if it is another request.
Machine* tool_request(Site& site, const ServerRequest& request);
// Its command line. INVALID_INPUT, TOO_LARGE.
Result<std::vector<std::string>> parse_tool_request(const ServerRequest& request);

}  // namespace leasehold::simsite
