#include "core/http/message.h"

#include <strings.h>

namespace leasehold {

std::string header_value(const HttpHeaders& headers, const std::string& name) {
  for (const auto& [key, value] : headers) {
    if (::strcasecmp(key.c_str(), name.c_str()) == 0) return value;
  }
  return "";
}

}  // namespace leasehold
