#include "core/loop/percent.h"

namespace leasehold {

namespace {

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

}  // namespace

Result<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const bool whole = i + 2 < text.size();
    const int high = whole ? hex_value(text[i + 1]) : -1;
    const int low = whole ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0) return Error(Code::kInvalidInput, "broken percent encoding", "target");
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace leasehold
