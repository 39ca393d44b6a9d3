#include "tests/unit/core/sync/history.h"

#include <catch2/catch.hpp>
#include <cstdio>

#include "core/sync/state.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

constexpr int kHistories = 250;  // of each case; there are four
constexpr int kOperations = 200;

// The first history that does not end as the model says: "", or its seed and what is wrong.
std::string run_histories(uint64_t first_seed, int count, const Receiver& receiver,
                          FaultCounts& faults) {
  History::Databases databases;
  for (int i = 0; i < count; ++i) {
    uint64_t seed = first_seed + static_cast<uint64_t>(i);
    std::string failure = History(seed, databases, faults, receiver).run(kOperations);
    if (!failure.empty()) return "seed " + std::to_string(seed) + ": " + failure;
  }
  return "";
}

void check_histories(uint64_t first_seed) {
  FaultCounts faults{};
  CHECK(run_histories(first_seed, kHistories, good_receiver, faults) == "");
  std::printf("%d histories of %d operations from seed %llu:", kHistories, kOperations,
              static_cast<unsigned long long>(first_seed));
  for (size_t i = 0; i < faults.size(); ++i) {
    const char* name = fault_name(static_cast<Fault>(i));
    std::printf("%s %s %lld", i == 0 ? "" : ",", name, static_cast<long long>(faults[i]));
    INFO(name);
    CHECK(faults[i] >= 20);
  }
  std::printf("\n");
}

// The planted fault: the cursor is committed before its batch.
Status cursor_first(MemorySql& db, const sync::End& end, const sync::Batch& batch, Kill kill) {
  sync::Cursor before = sync::read_cursor(db, end).value();
  TRY(commit(db, Kill::kNone, [&](Sql& sql) -> Status {
    TRY(sync::apply_batch(sql, end, batch));
    sync::Cursor after = TRY(sync::read_cursor(sql, end));
    sql.run("ROLLBACK").value();  // the rows are for the second transaction
    sql.run("BEGIN").value();
    return sync::write_cursor(sql, end, after);
  }));
  return commit(db, kill, [&](Sql& sql) -> Status {
    TRY(sync::write_cursor(sql, end, before));
    TRY(sync::apply_batch(sql, end, batch));
    return {};
  });
}

}  // namespace

TEST_CASE("rows survive whatever happens: histories 1") { check_histories(1'000); }
TEST_CASE("rows survive whatever happens: histories 2") { check_histories(2'000); }
TEST_CASE("rows survive whatever happens: histories 3") { check_histories(3'000); }
TEST_CASE("rows survive whatever happens: histories 4") { check_histories(4'000); }

TEST_CASE("a cursor that is committed before its batch is found") {
  FaultCounts faults{};
  std::string failure = run_histories(1'000, kHistories, cursor_first, faults);
  std::printf("planted fault: %s\n", failure.c_str());
  CHECK(failure != "");
}
