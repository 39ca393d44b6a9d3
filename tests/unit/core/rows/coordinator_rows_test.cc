#include "core/rows/coordinator_rows.h"

#include <catch2/catch.hpp>

using namespace leasehold;

TEST_CASE("a coordinator's rows cross and come back as they were") {
  ClearanceRow clearance{RunId("r-1"),
                         NodeId("n1"),
                         ClearanceVerdict::kUnverified,
                         "ab",
                         7,
                         "l-1",
                         "2026-11-30T07:22:15.004Z",
                         "why"};
  RowChange change = clearance.change();
  CHECK(parse_row(change.row).value().key == "r-1");
  ClearanceRow read = ClearanceRow::parse(change.row).value();
  CHECK(read.change().row == change.row);
  CHECK(read.verdict == ClearanceVerdict::kUnverified);

  ReceiptRow receipt{RunId("r-1"), NodeId("n1"), Json{{"seq", 3}}};
  CHECK(parse_row(receipt.change().row).ok());
  CHECK(ReceiptRow::parse(receipt.change().row).value().receipt["seq"] == 3);

  AuthorityRow authority{1'000'000, 2'000};
  CHECK(parse_row(authority.change().row).value().key == AuthorityRow::kKey);
  CHECK(AuthorityRow::parse(authority.change().row).value().until_ms == 1'000'000);
}

TEST_CASE("a clearance of an unknown verdict is none") {
  ClearanceRow clearance;
  clearance.run = RunId("r-1");
  clearance.node = NodeId("n1");
  Json row = clearance.change().row;
  CHECK(row["verdict"] == "refused");
  row["verdict"] = "fine";
  CHECK(ClearanceRow::parse(row).error().field == "verdict");
  row.erase("verdict");
  CHECK(ClearanceRow::parse(row).error().field == "verdict");
}

TEST_CASE("an authority whose end cannot be read is an error") {
  Json row = AuthorityRow{1'000, 500}.change().row;
  row["until"] = "for ever";
  CHECK(AuthorityRow::parse(row).error().field == "until");
}
