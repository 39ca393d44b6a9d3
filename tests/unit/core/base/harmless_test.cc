#include "core/base/harmless.h"

#include <catch2/catch.hpp>

namespace leasehold {
namespace {

TEST_CASE("nothing that a terminal obeys is left of a text") {
  CHECK(harmless("disk S1, 12 \xC2\xB5s") == "disk S1, 12 \xC2\xB5s");
  CHECK(harmless("\x1b[2J\x1b]0;root\x07") == "?[2J?]0;root?");  // C0
  CHECK(harmless("a\xC2\x9B"
                 "2Jb") == "a?2Jb");                          // C1: CSI in one character
  CHECK(harmless("a\x7F\r\n\tb") == "a????b");                // DEL, breaks
  CHECK(harmless("x\xE2\x80\xAEy\xE2\x81\xA6z") == "x?y?z");  // bidi override, isolate
  CHECK(harmless("x\xE2\x80\xA8y\xE2\x80\xA9z") == "x?y?z");  // line, paragraph separator
  CHECK(harmless("x\x9B"
                 "2J") ==
        "x\xEF\xBF\xBD"
        "2J");  // a raw byte is no character
  CHECK(harmless_lines("a\x1b[1m\nb\r\n") == "a?[1m\nb?\n");
  CHECK(harmless_json("{\"a\":\"x\xE2\x80\xAEy\"}") == "{\"a\":\"x\\u202ey\"}");
}

TEST_CASE("a text is cut between characters, and says so") {
  CHECK(shortened_bytes("short", 5) == "short");
  CHECK(shortened_bytes("longer than that", 9) == "longer...");
  // The two bytes of the sign would be the seventh and the eighth.
  CHECK(shortened_bytes("123456\xC2\xB5"
                        "9012",
                        10) == "123456...");
  CHECK(shortened_bytes("123456\xC2\xB5"
                        "9012",
                        11) == "123456\xC2\xB5...");
}

}  // namespace
}  // namespace leasehold
