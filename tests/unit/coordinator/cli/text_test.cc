#include "coordinator/cli/text.h"

#include <catch2/catch.hpp>

namespace leasehold {

TEST_CASE("what a terminal would obey is shown as a question mark") {
  CHECK(harmless("plain, grün, 機械") == "plain, grün, 機械");
  CHECK(harmless("a\x1b[2Jb\nc\td\r") == "a?[2Jb?c?d?");
  CHECK(harmless(std::string_view("\0\x7f", 2)) == "??");
  CHECK(harmless("\xc2\x9b"
                 "31m") == "?31m");  // CSI in one character
  CHECK(harmless("\xe2\x80\xae"
                 "moc") == "?moc");        // right-to-left override
  CHECK(harmless("\xe2\x80\xa8") == "?");  // line separator
  CHECK(harmless("\xe2\x80\x8b") == "?");  // zero width space
}

TEST_CASE("bytes that are not UTF-8 become the replacement character, one each") {
  const std::string replaced = "\xEF\xBF\xBD";
  CHECK(harmless("\xff") == replaced);
  CHECK(harmless("\xc0\xaf") == replaced + replaced);  // overlong
  CHECK(harmless("\xed\xa0\x80") == replaced + replaced + replaced);
  CHECK(harmless("a\xe6\xa9") == "a" + replaced + replaced);  // cut off
  CHECK(harmless("\xf4\x90\x80\x80").size() == 4 * replaced.size());
  CHECK(harmless("\xf0\x9f\x92\xbe") == "\xf0\x9f\x92\xbe");
}

TEST_CASE("width is counted in columns") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("grün") == 4);
  CHECK(display_width("機械") == 4);
  CHECK(display_width("e\xcc\x81") == 1);  // combining acute
  CHECK(display_width("") == 0);
}

TEST_CASE("shortened text fits, and ids keep both ends") {
  CHECK(shortened("rack-a1-unit-07", 20, Shorten::kMiddle) == "rack-a1-unit-07");
  CHECK(shortened("rack-a1-unit-07", 9, Shorten::kMiddle) == "rack…t-07");
  CHECK(shortened("rack-a1-unit-07", 9, Shorten::kEnd) == "rack-a1-…");
  CHECK(shortened("rack-a1-unit-07", 9, Shorten::kNever) == "rack-a1-unit-07");
  CHECK(shortened("abcdef", 1, Shorten::kMiddle) == "…");
  // A wide character that would stand half outside is left out.
  CHECK(shortened("機械機械", 4, Shorten::kEnd) == "機…");
  for (size_t width = 1; width < 12; ++width) {
    CHECK(display_width(shortened("機械x機械y機械", width, Shorten::kMiddle)) <= width);
  }
}

TEST_CASE("JSON for a terminal is the same document") {
  const Json document = {{"a", "\x1b[2J\n"}, {"b", "\xc2\x9b\xe2\x80\xae\x7f"}, {"c", "grün"}};
  const std::string text = harmless_json(dump_json_pretty(document));
  CHECK(parse_json(text).value() == document);
  for (const char* obeyed : {"\x1b", "\xc2\x9b", "\xe2\x80\xae", "\x7f"}) {
    CHECK(text.find(obeyed) == std::string::npos);
  }
  CHECK(text.find("grün") != std::string::npos);
}

TEST_CASE("a cell is text whatever the member is") {
  const Json row = {{"t", "x"}, {"n", 7}, {"yes", true}, {"no", false}, {"null", nullptr}};
  CHECK(cell_text(row, "t") == "x");
  CHECK(cell_text(row, "n") == "7");
  CHECK(cell_text(row, "yes") == "yes");
  CHECK(cell_text(row, "no") == "no");
  CHECK(cell_text(row, "null").empty());
  CHECK(cell_text(row, "absent").empty());
  CHECK(joined(Json{"a", 2}) == "a, 2");
  CHECK(joined(Json("a")).empty());
}

}  // namespace leasehold
