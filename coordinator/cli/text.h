// Text for a terminal: what was made harmless (core/base/harmless.h) is measured in columns and
// shortened. UTF-8 in and out; bytes that are none become U+FFFD. Values only, any thread; the
// system's locale is never changed.
#pragma once

#include <string>
#include <string_view>

#include "core/base/harmless.h"
#include "core/base/json.h"

namespace leasehold {

// Columns of a terminal: wide East Asian characters count two, combining marks none.
size_t display_width(std::string_view text);

enum class Shorten { kNever, kEnd, kMiddle };
// At most `width` columns, with "…" where something is left out. kMiddle is for ids, whose ends
// tell them apart. `text` is harmless already.
std::string shortened(const std::string& text, size_t width, Shorten where);

// "a, b" of a list of texts; "" if it is none.
std::string joined(const Json& list, const std::string& between = ", ");

// A member as text whatever its type: texts as they are, true and false as yes and no, numbers in
// digits, absent and null as "". Not harmless yet.
std::string cell_text(const Json& object, const std::string& key);

}  // namespace leasehold
