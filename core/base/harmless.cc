#include "core/base/harmless.h"

#include <cstdio>

namespace leasehold {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// What changes where or in which direction a terminal writes, or cannot be seen at all.
bool is_obeyed(char32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0xAD || point == 0x61C ||
         (point >= 0x200B && point <= 0x200F) || (point >= 0x2028 && point <= 0x202E) ||
         (point >= 0x2060 && point <= 0x206F) || point == 0xFEFF ||
         (point >= 0xFFF9 && point <= 0xFFFB) || (point >= 0xE0000 && point <= 0xE0FFF);
}

std::string made_harmless(std::string_view text, bool lines_stay) {
  std::string out;
  while (!text.empty()) {
    const Utf8Character each = first_character(text);
    if (is_obeyed(each.point) && !(lines_stay && each.point == '\n')) {
      out += '?';
    } else if (each.point == kReplacement) {
      out += "\xEF\xBF\xBD";
    } else {
      out += text.substr(0, each.bytes);
    }
    text.remove_prefix(each.bytes);
  }
  return out;
}

}  // namespace

Utf8Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {kReplacement, 1};
  char32_t point = first & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {kReplacement, 1};
    point = (point << 6) | (byte(i) & 0x3F);
  }
  const char32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  if (point < least || surrogate || point > 0x10FFFF) return {kReplacement, 1};
  return {point, length};
}

std::string harmless(std::string_view text) { return made_harmless(text, false); }

std::string harmless_lines(std::string_view text) { return made_harmless(text, true); }

std::string harmless_json(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Utf8Character each = first_character(text);
    // Line breaks and blanks between members are the document's own; inside texts JSON escapes
    // them.
    const bool escape = each.point >= 0x7F && each.point <= 0xFFFF && is_obeyed(each.point);
    char escaped[8];
    std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(each.point & 0xFFFF));
    out += escape ? std::string_view(escaped) : text.substr(0, each.bytes);
    text.remove_prefix(each.bytes);
  }
  return out;
}

std::string shortened_bytes(const std::string& text, size_t max_bytes) {
  constexpr std::string_view kLeftOut = "...";
  if (text.size() <= max_bytes || max_bytes < kLeftOut.size()) return text.substr(0, max_bytes);
  size_t end = max_bytes - kLeftOut.size();
  // Not in the middle of a character: its following bytes begin with the bits 10.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + std::string(kLeftOut);
}

}  // namespace leasehold
