#include "core/base/ids.h"

namespace leasehold {

bool is_valid_id(std::string_view text) {
  if (text.empty() || text.size() > 63 || text.front() == '-') return false;
  for (char c : text) {
    bool allowed = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    if (!allowed) return false;
  }
  return true;
}

}  // namespace leasehold
