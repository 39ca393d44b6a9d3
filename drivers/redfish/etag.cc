#include "drivers/redfish/etag.h"

#include <algorithm>

namespace leasehold::redfish {
namespace {

std::string unquoted(const std::string& tag) {
  size_t first = tag.find('"');
  size_t last = tag.rfind('"');
  return first == last ? tag : tag.substr(first + 1, last - first - 1);
}

// Without the weakness and the suffix that a compressing server adds (E1, E5).
std::string strong(std::string tag) {
  if (tag.starts_with("W/")) tag.erase(0, 2);
  size_t suffix = tag.rfind("-gzip");
  if (suffix != std::string::npos && tag.size() - suffix <= 6) tag.erase(suffix, 5);
  return tag;
}

}  // namespace

std::vector<IfMatchRung> if_match_ladder(const std::string& header_tag,
                                         const std::string& body_tag) {
  std::string tag = header_tag.empty() ? body_tag : header_tag;
  if (tag.empty()) return {{IfMatchForm::kNone, ""}, {IfMatchForm::kAny, "*"}};
  std::string other = body_tag.empty() || body_tag == tag ? unquoted(tag) : body_tag;
  std::vector<IfMatchRung> ladder;
  for (IfMatchRung rung :
       {IfMatchRung{IfMatchForm::kAsIs, tag}, IfMatchRung{IfMatchForm::kOther, other},
        IfMatchRung{IfMatchForm::kStrong, strong(tag)}, IfMatchRung{IfMatchForm::kAny, "*"},
        IfMatchRung{IfMatchForm::kNone, ""}}) {
    bool there = std::any_of(ladder.begin(), ladder.end(),
                             [&](const IfMatchRung& known) { return known.value == rung.value; });
    if (!there) ladder.push_back(std::move(rung));
  }
  return ladder;
}

}  // namespace leasehold::redfish
