#include "coordinator/cli/text.h"

#include <clocale>
#include <cwchar>
#include <vector>

namespace leasehold {
namespace {

// wcwidth(3) goes by the thread's locale; C.UTF-8 is always there on Debian.
class Utf8Locale {
 public:
  Utf8Locale() : ours_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (ours_ != nullptr) former_ = ::uselocale(ours_);
  }
  ~Utf8Locale() {
    if (ours_ == nullptr) return;
    ::uselocale(former_);
    ::freelocale(ours_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t ours_;
  locale_t former_ = nullptr;
};

size_t width_of(char32_t point) {
  if (point < 0x80) return 1;
  const int width = ::wcwidth(static_cast<wchar_t>(point));
  return width < 0 ? 1 : static_cast<size_t>(width);
}

struct Piece {
  std::string_view bytes;
  size_t width = 0;
};

std::vector<Piece> pieces_of(std::string_view text) {
  Utf8Locale locale;
  std::vector<Piece> pieces;
  while (!text.empty()) {
    const Utf8Character each = first_character(text);
    pieces.push_back({text.substr(0, each.bytes), width_of(each.point)});
    text.remove_prefix(each.bytes);
  }
  return pieces;
}

}  // namespace

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (const Piece& piece : pieces_of(text)) width += piece.width;
  return width;
}

std::string shortened(const std::string& text, size_t width, Shorten where) {
  if (where == Shorten::kNever || width == 0 || display_width(text) <= width) return text;
  const std::vector<Piece> pieces = pieces_of(text);
  const size_t room = width - 1;  // one column for the ellipsis
  const size_t head_room = where == Shorten::kMiddle ? room - room / 2 : room;
  std::string head, tail;
  size_t used = 0, first = 0, last = pieces.size();
  while (first < last && used + pieces[first].width <= head_room) {
    used += pieces[first].width;
    head += pieces[first++].bytes;
  }
  if (where == Shorten::kMiddle) {
    while (last > first && used + pieces[last - 1].width <= room) {
      used += pieces[last - 1].width;
      tail.insert(0, pieces[--last].bytes);
    }
  }
  return head + "\xE2\x80\xA6" + tail;
}

std::string joined(const Json& list, const std::string& between) {
  std::string out;
  if (!list.is_array()) return out;
  for (const Json& each : list) {
    if (!out.empty()) out += between;
    out += each.is_string() ? each.get_ref<const std::string&>() : dump_json(each);
  }
  return out;
}

std::string cell_text(const Json& object, const std::string& key) {
  const Json& value = json_member(object, key);
  if (value.is_null()) return "";
  if (value.is_string()) return value.get_ref<const std::string&>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return dump_json(value);
}

}  // namespace leasehold
