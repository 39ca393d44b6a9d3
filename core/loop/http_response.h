// Responses as bytes on the wire. Values only, any thread.
#pragma once

#include <string>

#include "core/http/message.h"

namespace leasehold {

struct ResponseForm {
  bool head_only = false;   // the answer to HEAD: the length of the body, not the body
  bool keep_alive = false;  // false adds "Connection: close"
};

// The same response, or a 500 in place of one that cannot be written safely (a line break in a
// header, a status out of range). A response without content loses its source, as its body.
HttpResponse safe_response(HttpResponse response);
// The head, and the body unless it has a source. Content-Length and Connection are ours: whatever
// the response says about them (and about Transfer-Encoding) is left out.
std::string serialise_response(HttpResponse response, const ResponseForm& form);
// Whether the response itself asks for the connection's end.
bool asks_to_close(const HttpResponse& response);

}  // namespace leasehold
