// What the commands print of rows and timelines does not reach the terminal as orders to it.
#include <catch2/catch.hpp>

#include "agent/command/table.h"
#include "agent/command/timeline.h"

using namespace leasehold;

TEST_CASE("a table's cells tell the terminal nothing") {
  CHECK(format_table({{"NODE", "STATE"}, {"n1\x1b[2J", "rea\ndy"}}) ==
        "NODE    STATE\nn1?[2J  rea?dy\n");
}

TEST_CASE("a timeline's line stays one line, whatever its detail says") {
  Json event = {{"kind", "finished"},
                {"at", "2026-11-29T16:31:21.004Z"},
                {"node", "n1"},
                {"detail", "failed: \x1b]0;x\x07\xE2\x80\xAE\nrun r-2 succeeded"}};
  CHECK(event_line(event) == "16:31:21.004  n1  run failed: ?]0;x???run r-2 succeeded");
}
