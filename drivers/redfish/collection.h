// Reads a collection with all its pages (quirk P12). Values only; the reader that is handed in does
// the talking. Never says "complete" of a list that carried an error, lacked announced members or
// did not end (P3, P7).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "drivers/redfish/transport.h"

namespace leasehold::redfish {

struct Collection {
  std::vector<Json> members;  // {"@odata.id": ...}
  bool complete = true;
  std::string why;  // the first reason why it is not
};

// GETs a path; an Error unless the answer is good.
using Getter = std::function<Result<Reply>(const std::string& path)>;

// An Error only if the first page cannot be read.
Result<Collection> read_collection(const Getter& get, const std::string& path);

// The member's own document, read through its link; one without a link (expanded by the BMC) is
// taken as it stands. MALFORMED if it is neither.
Result<Reply> read_member(const Getter& get, const Json& member);

}  // namespace leasehold::redfish
