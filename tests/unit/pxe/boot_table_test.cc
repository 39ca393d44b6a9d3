#include "pxe/boot_table.h"

#include <catch2/catch.hpp>

#include "core/base/limits.h"
#include "tests/unit/pxe/fakes.h"

namespace leasehold {
namespace {

using Take = BootTable::Take;
const std::string kMac = "52:54:00:77:00:10";

TEST_CASE("a document is given once and every request is a claim") {
  FakeClock clock;
  BootTable table(clock);
  REQUIRE(table.arm(an_arming(kMac, "b-1")).ok());

  BootTable::Taken first = table.take_document("b-1", "10.0.0.9");
  CHECK(first.take == Take::kGiven);
  CHECK(first.document == R"({"token":"c2VjcmV0"})");
  clock.monotonic += 7;
  BootTable::Taken second = table.take_document("b-1", "10.0.0.66");
  CHECK(second.take == Take::kGone);
  CHECK(second.document.empty());

  std::vector<Claim> claims = table.claims_after(0);
  REQUIRE(claims.size() == 2);
  CHECK(claims[0].n == 1);
  CHECK(claims[0].count == 1);
  CHECK(claims[0].peer == "10.0.0.9");
  CHECK(claims[1].n == 2);
  CHECK(claims[1].count == 2);
  CHECK(claims[1].peer == "10.0.0.66");
  CHECK(claims[1].mac == kMac);
  CHECK(claims[1].boot == "b-1");
  CHECK(claims[1].at_ms - claims[0].at_ms == 7);
  CHECK(table.claims_after(1).size() == 1);
  CHECK(table.claims_after(2).empty());
}

TEST_CASE("a claim number of a former life asks for everything") {
  FakeClock clock;
  BootTable table(clock);
  REQUIRE(table.arm(an_arming(kMac, "b-1")).ok());
  table.take_document("b-1", "10.0.0.9");
  CHECK(table.claims_after(57).size() == 1);
}

TEST_CASE("a boot id is never armed twice") {
  FakeClock clock;
  BootTable table(clock);
  REQUIRE(table.arm(an_arming(kMac, "b-1")).ok());
  CHECK(table.arm(an_arming(kMac, "b-1")).error().code == Code::kConflict);
  CHECK(table.arm(an_arming("52:54:00:77:00:11", "b-1")).error().code == Code::kConflict);
  table.disarm(kMac);
  CHECK(table.arm(an_arming(kMac, "b-1")).error().code == Code::kConflict);
  clock.monotonic += 901'000;
  CHECK(table.arm(an_arming(kMac, "b-1")).error().code == Code::kConflict);
  CHECK(table.armed_count() == 0);
}

TEST_CASE("arming replaces what the MAC had") {
  FakeClock clock;
  BootTable table(clock);
  REQUIRE(table.arm(an_arming(kMac, "b-1")).ok());
  REQUIRE(table.arm(an_arming(kMac, "b-2")).ok());
  REQUIRE(table.find(kMac) != nullptr);
  CHECK(table.find(kMac)->boot == "b-2");
  CHECK(table.take_document("b-1", "10.0.0.9").take == Take::kUnknown);
  CHECK(table.claims_after(0).empty());
  CHECK(table.take_document("b-2", "10.0.0.9").take == Take::kGiven);
}

TEST_CASE("a boot expires after its seconds") {
  FakeClock clock;
  BootTable table(clock);
  REQUIRE(table.arm(an_arming(kMac, "b-1")).ok());
  clock.monotonic += 899'999;
  CHECK(table.find(kMac) != nullptr);
  clock.monotonic += 1;
  CHECK(table.find(kMac) == nullptr);
  CHECK(table.take_document("b-1", "10.0.0.9").take == Take::kUnknown);
  CHECK(table.claims_after(0).empty());
}

TEST_CASE("a document that was taken stays taken after disarming and expiry") {
  FakeClock clock;
  BootTable table(clock);
  REQUIRE(table.arm(an_arming(kMac, "b-1")).ok());
  REQUIRE(table.take_document("b-1", "10.0.0.66").take == Take::kGiven);
  table.disarm(kMac);
  clock.monotonic += 901'000;
  // The machine that was meant comes second: exactly the case that the agent must hear of.
  CHECK(table.take_document("b-1", "10.0.0.9").take == Take::kGone);
  REQUIRE(table.claims_after(0).size() == 2);
  CHECK(table.claims_after(1)[0].count == 2);
}

TEST_CASE("an unknown boot is no claim") {
  FakeClock clock;
  BootTable table(clock);
  CHECK(table.take_document("b-9", "10.0.0.9").take == Take::kUnknown);
  CHECK(table.claims_after(0).empty());
}

TEST_CASE("one machine's claims cannot push out another's") {
  FakeClock clock;
  BootTable table(clock);
  REQUIRE(table.arm(an_arming(kMac, "b-1")).ok());
  REQUIRE(table.arm(an_arming("52:54:00:77:00:11", "b-2")).ok());
  table.take_document("b-2", "10.0.0.9");
  for (size_t i = 0; i < limits::kBootClaims + 10; ++i) table.take_document("b-1", "10.0.0.66");
  std::vector<Claim> claims = table.claims_after(0);
  CHECK(claims.size() == 1 + static_cast<size_t>(limits::kBootClaimsPerBoot));
  CHECK(claims[0].boot == "b-2");
}

TEST_CASE("too many armed MACs are refused and a re-arming of one is not") {
  FakeClock clock;
  BootTable table(clock);
  for (size_t i = 0; i < limits::kBootArmed; ++i) {
    REQUIRE(table.arm(an_arming("mac-" + std::to_string(i), "b-" + std::to_string(i))).ok());
  }
  CHECK(table.arm(an_arming(kMac, "b-more")).error().code == Code::kUnavailable);
  CHECK(table.arm(an_arming("mac-7", "b-more")).ok());
}

TEST_CASE("MAC addresses are read in the forms that firmware writes") {
  CHECK(normalise_mac("52:54:00:77:00:1F").value() == "52:54:00:77:00:1f");
  CHECK(normalise_mac("52-54-00-77-00-1f").value() == "52:54:00:77:00:1f");
  for (const char* wrong : {"", "52:54:00:77:00", "52:54:00:77:00:1g", "52:54-00:77:00:1f",
                            "52:54:00:77:00:1f:", "5254.0077.001f", "52 54 00 77 00 1f"}) {
    INFO(wrong);
    CHECK(normalise_mac(wrong).error().code == Code::kInvalidInput);
  }
}

}  // namespace
}  // namespace leasehold
