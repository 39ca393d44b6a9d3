// The ladder of If-Match forms for one PATCH (quirks E1 to E10): which forms to try, in order. A
// pure function of the tag; the client climbs it. Never longer than limits::kBmcPatchSends.
#pragma once

#include <string>
#include <vector>

namespace leasehold::redfish {

// What a BMC may want to see in If-Match.
enum class IfMatchForm {
  kAsIs,    // the ETag header
  kOther,   // the body's @odata.etag where it differs, else the header without its quotes
  kStrong,  // without W/ and -gzip
  kAny,     // *
  kNone     // no such header
};

struct IfMatchRung {
  IfMatchForm form;
  std::string value;
};

// `header_tag` is the ETag header of the GET, `body_tag` its @odata.etag; both may be empty.
std::vector<IfMatchRung> if_match_ladder(const std::string& header_tag,
                                         const std::string& body_tag);

}  // namespace leasehold::redfish
