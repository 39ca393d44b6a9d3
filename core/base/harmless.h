// Text of rows, machines and files on its way to a terminal or into a row that people read: made
// harmless (escape sequences, line breaks, direction marks) and cut without breaking a character.
// UTF-8 in and out; bytes that are none become U+FFFD. Values only, any thread.
#pragma once

#include <string>
#include <string_view>

namespace leasehold {

// The first character of a text that is not empty (RFC 3629: no overlong forms, no surrogates,
// nothing above 10FFFF). What is none is U+FFFD and one byte.
struct Utf8Character {
  char32_t point = 0;
  size_t bytes = 1;
};
Utf8Character first_character(std::string_view text);

// The same text on one line, with '?' for everything that a terminal would obey rather than show:
// C0, C1, direction marks, separators of lines, what cannot be seen.
std::string harmless(std::string_view text);

// The same for a text of several lines that is our own but for what was put into it: its line
// breaks stay.
std::string harmless_lines(std::string_view text);

// The text of a JSON document whose strings may hold anything: the few characters that JSON leaves
// as they are and a terminal may obey are written as \u escapes. Still the same document.
std::string harmless_json(std::string_view json_text);

// At most `max_bytes` (at least 3) of `text`, with "..." where something was left out.
std::string shortened_bytes(const std::string& text, size_t max_bytes);

}  // namespace leasehold
