#include "coordinator/cli/table.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "coordinator/cli/terminal.h"

namespace leasehold {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Table nodes() {
  Table table({{"NODE", Shorten::kMiddle, 8},
               {"STATE"},
               {"GEN", Shorten::kNever, 0, false, false, true},
               {"NOTE", Shorten::kEnd, 6, false, true},
               {"POOL", Shorten::kMiddle, 6, true},
               {"WHERE", Shorten::kEnd, 6, true, true}});
  table.add({"s1/a-machine-with-a-long-name", "ready", "8", "", "metal-dedicated", "row 3"});
  table.add({"s1/b", "failed", "117", "", "gpu", ""});
  return table;
}

}  // namespace

TEST_CASE("a table that is not for a terminal is whole") {
  const auto lines = lines_of(nodes().text(0));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "NODE                           STATE   GEN  POOL             WHERE");
  CHECK(lines[1] == "s1/a-machine-with-a-long-name  ready     8  metal-dedicated  row 3");
  CHECK(lines[2] == "s1/b                           failed  117  gpu");
}

TEST_CASE("a narrow terminal loses the least columns first, then long cells") {
  for (size_t width : {30, 36, 50, 60}) {
    for (const std::string& line : lines_of(nodes().text(width))) {
      CHECK(display_width(line) <= width);
    }
  }
  // Room for all of them if the least of them are shortened: nothing goes.
  CHECK(lines_of(nodes().text(60))[1] ==
        "s1/a-machine-with-a-long-name  ready     8  meta…ated  row 3");
  // The last optional column goes first, and the name is whole as long as there is another.
  CHECK(lines_of(nodes().text(50))[1] == "s1/a-machine-with-a-long-name  ready     8  met…ed");
  CHECK(lines_of(nodes().text(49))[1] == "s1/a-machine-with-a-long-name  ready     8");
  CHECK(lines_of(nodes().text(30))[1] == "s1/a-mac…ong-name  ready     8");
}

TEST_CASE("a column that is empty everywhere is left out if it may") {
  CHECK(nodes().text(0).find("NOTE") == std::string::npos);
  Table table = nodes();
  table.add({"s1/c", "ready", "1", "cordoned", "gpu", ""});
  CHECK(table.text(0).find("NOTE") != std::string::npos);
}

TEST_CASE("cells cannot break the table") {
  Table table({{"A"}, {"B"}});
  table.add({"x\nVERIFIED\x1b[2J", "機械"});
  table.add({"y", "z"});
  const auto lines = lines_of(table.text(0));
  REQUIRE(lines.size() == 3);
  CHECK(lines[1] == "x?VERIFIED?[2J  機械");
  CHECK(lines[2] == "y               z");
}

TEST_CASE("fields are aligned and wrapped beneath themselves") {
  const std::string text = field_lines(
      {{"node", "s1/a"}, {"failure", "one two three four five six seven eight"}, {"", "more"}}, 31);
  CHECK(text ==
        "node     s1/a\n"
        "failure  one two three four\n"
        "         five six seven eight\n"
        "         more\n");
  CHECK(field_lines({{"a", "long long long long long"}}, 0) == "a  long long long long long\n");
}

TEST_CASE("times are local and as short as they can be") {
  ::setenv("TZ", "UTC-2", 1);  // two hours east of Greenwich
  ::tzset();
  const int64_t now_ms = 1'795'953'600'000;  // 2026-11-29T12:00:00Z
  CHECK(local_time("2026-11-29T11:59:58.123Z", now_ms) == "13:59:58");
  CHECK(local_time("2026-11-28T23:30:00.000Z", now_ms) == "01:30:00");  // today, here
  CHECK(local_time("2026-03-01T10:00:00.000Z", now_ms) == "03-01 12:00");
  CHECK(local_time("2025-11-29T10:00:00.000Z", now_ms) == "2025-11-29");
  CHECK(local_time("", now_ms).empty());
  CHECK(local_time("soon", now_ms) == "soon");
  CHECK(local_time_long("2026-11-29T11:59:58.123Z") == "2026-11-29 13:59:58 UTC");
  ::unsetenv("TZ");
  ::tzset();
  CHECK(time_between("2026-11-29T11:59:58.000Z", "2026-11-29T11:59:58.250Z") == "250 ms");
  CHECK(time_between("2026-11-29T11:59:58.000Z", "").empty());
  CHECK(duration_text(1'500) == "1.5 s");
  CHECK(duration_text(61'000) == "61 s");
  CHECK(duration_text(185'000) == "3m 5s");
  CHECK(duration_text(3 * 3'600'000 + 60'000) == "3h 1m");
  CHECK(duration_text(5LL * 86'400'000) == "5d");
}

}  // namespace leasehold
