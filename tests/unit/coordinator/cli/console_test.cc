#include "coordinator/cli/console.h"

#include <catch2/catch.hpp>

#include "tests/unit/coordinator/cli/fake_api.h"

namespace leasehold::test {

TEST_CASE("an error is one line with its code and field, and what to do if somebody else said it") {
  const Error own(Code::kInvalidInput, "a label is KEY=VALUE", "LABEL");
  CHECK(error_text(own, false) == "leasehold: a label is KEY=VALUE (INVALID_INPUT, field LABEL)\n");
  const Error theirs = advised(Error(Code::kNotFound, "no pool\x1b[2J \"x\"\nVERIFIED"));
  CHECK(error_text(theirs, false) ==
        "leasehold: no pool?[2J \"x\"?VERIFIED (NOT_FOUND)\n"
        "  Check the name; list what exists first.\n");
}

TEST_CASE("with --json an error is an object of always the same members") {
  const Json own = parse_json(error_text(Error(Code::kIo, "no room"), true)).value();
  CHECK(own == Json{{"code", "IO"}, {"message", "no room"}, {"field", ""}, {"next", ""}});
  const Error theirs = advised(Error(Code::kConflict, "changed", "state"));
  const Json json = parse_json(error_text(theirs, true)).value();
  CHECK(json["message"] == "changed");
  CHECK(json["field"] == "state");
  CHECK(json["next"] == code_next(Code::kConflict));
}

TEST_CASE("a usage error ends with 2, every other with 1") {
  CHECK(exit_code_of(Error(Code::kInvalidInput, "")) == 2);
  CHECK(exit_code_of(Error(Code::kNotFound, "")) == 1);
  CHECK(exit_code_of(Error(Code::kConfig, "")) == 1);
}

TEST_CASE("what destroys is confirmed by word, or by --yes, or not done") {
  Bench bench;
  Console& console = bench.console;
  CHECK(confirm(console, true, "release of s1/n1", "n1").ok());
  CHECK(confirm(console, false, "release of s1/n1", "n1").error().field == "--yes");
  console.answers = &bench.answers;
  bench.answers.str("n1\n");
  CHECK(confirm(console, false, "release of s1/n1", "n1").ok());
  CHECK(has(bench.noted(), "release of s1/n1.\nType n1 to go on: "));
  bench.answers.clear();
  bench.answers.str("y\n");
  CHECK(confirm(console, false, "release of s1/n1", "n1").error().code == Code::kStopped);
  bench.answers.clear();
  bench.answers.str("");
  CHECK(confirm(console, false, "release of s1/n1", "n1").error().code == Code::kStopped);
  console.json = true;  // a program reads along: it is not asked
  CHECK(confirm(console, false, "release of s1/n1", "n1").error().field == "--yes");
}

}  // namespace leasehold::test
