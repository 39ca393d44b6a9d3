#include "agent/sync/authority.h"

#include <catch2/catch.hpp>

#include "core/db/row_store.h"
#include "core/rows/coordinator_rows.h"
#include "tests/support/temp_folder.h"
#include "tests/support/virtual_time.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

// A box whose clocks are set by hand.
struct Clocks : Clock {
  int64_t now_ms() override { return wall_ms; }
  int64_t monotonic_ms() override { return boot_ms; }
  void sleep_ms(int64_t ms) override { pass(ms); }
  void pass(int64_t ms) {
    wall_ms += ms;
    boot_ms += ms;
  }
  int64_t wall_ms = kEpochMs;
  int64_t boot_ms = 5'000;
};

struct Box {
  Clocks clocks;
  bool synchronised = false;
  std::string boot_id = "boot-1";
  KernelClock kernel() {
    return {boot_id, [this] { return synchronised; }};
  }
};

}  // namespace

TEST_CASE("trusted clock: before any contact only a synchronised clock is trusted") {
  Box box;
  TrustedClock clock(box.clocks, box.kernel());
  CHECK_FALSE(clock.now_ms().has_value());
  box.synchronised = true;
  CHECK(clock.now_ms() == box.clocks.wall_ms);
}

TEST_CASE("trusted clock: in the same boot it must agree with what was heard, to five seconds") {
  Box box;
  box.synchronised = true;
  TrustedClock clock(box.clocks, box.kernel());
  clock.heard(kEpochMs + 2'000, box.clocks.boot_ms);
  box.clocks.pass(3'600'000);
  CHECK(clock.now_ms() == kEpochMs + 3'602'000);
  box.clocks.wall_ms += 7'000;
  CHECK(clock.now_ms().has_value());
  box.clocks.wall_ms += 1;
  CHECK_FALSE(clock.now_ms().has_value());
  box.clocks.wall_ms -= 10'002;
  CHECK_FALSE(clock.now_ms().has_value());
}

TEST_CASE("trusted clock: a restart of the agent keeps it, a reboot of the box does not") {
  Box box;
  TrustedClock before(box.clocks, box.kernel());
  before.heard(kEpochMs, box.clocks.boot_ms);
  const Json row = before.row();
  TrustedClock restarted(box.clocks, box.kernel());
  restarted.restore(row);
  CHECK(restarted.now_ms() == kEpochMs);
  box.boot_id = "boot-2";
  TrustedClock rebooted(box.clocks, box.kernel());
  rebooted.restore(row);
  CHECK_FALSE(rebooted.now_ms().has_value());
  box.synchronised = true;
  CHECK(rebooted.now_ms() == kEpochMs);
  box.clocks.wall_ms -= 60'000;  // synchronised, and yet before what was heard
  CHECK_FALSE(rebooted.now_ms().has_value());
}

TEST_CASE("authority: a run starts only inside a term that a trusted clock shows") {
  TempFolder folder{TempFolder::Where::kMemory};
  SystemRandom random;
  auto database = Database::open({folder.file("a.db"), "", {}}, [&](Sql& sql) {
                    return row_store::migrate(sql, random);
                  }).value();
  Box box;
  TrustedClock clock(box.clocks, box.kernel());
  SiteStanding standing(Standing::kActing);
  Authority authority(clock, standing);
  auto verdict = [&] {
    return database->transact_and_wait([&](Sql& sql) { return authority.may_start(sql); });
  };
  auto grant = [&](int64_t ends_ms) {
    AuthorityRow row;
    row.until_ms = ends_ms;
    row.time_ms = kEpochMs;
    REQUIRE(database->transact_and_wait([&](Sql& sql) { return row_store::put(sql, row.change()); })
                .ok());
  };
  clock.heard(kEpochMs, box.clocks.boot_ms);
  REQUIRE_FALSE(verdict().ok());
  CHECK(verdict().error().code == Code::kAuthorityOver);
  grant(kEpochMs + 10'000);
  CHECK(verdict().ok());
  box.clocks.pass(9'999);
  CHECK(verdict().ok());
  box.clocks.pass(1);
  REQUIRE_FALSE(verdict().ok());
  CHECK(verdict().error().code == Code::kAuthorityOver);
  grant(kEpochMs + 20'000);
  CHECK(verdict().ok());
  box.clocks.wall_ms -= 60'000;
  REQUIRE_FALSE(verdict().ok());
  CHECK(verdict().error().message.find("clock") != std::string::npos);
}
