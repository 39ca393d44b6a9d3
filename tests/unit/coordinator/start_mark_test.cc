#include "coordinator/start_mark.h"

#include <catch2/catch.hpp>

#include "core/base/files.h"
#include "core/db/row_store.h"
#include "tests/support/coordinator_rig.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

// A start of a coordinator over this rig's database: whether it waits for its site to be met.
bool finds_restored(CoordinatorRig& rig) {
  StartMark mark(rig.folder.path());
  REQUIRE(mark.read().ok());
  bool restoring = false;
  REQUIRE(rig.read([&](Sql& sql) -> Status {
               TRY(mark.raise(sql));
               restoring = TRY(row_store::stream(sql, {RowOwner::kCoordinator, "s1"})).restoring;
               return {};
             })
              .ok());
  REQUIRE(mark.confirm().ok());
  return restoring;
}

void set_starts(CoordinatorRig& rig, int64_t starts) {
  REQUIRE(
      rig.read([&](Sql& sql) { return sql.run("UPDATE coordinator_state SET value=?1", {starts}); })
          .ok());
}

}  // namespace

TEST_CASE("a start over one's own database finds nothing") {
  CoordinatorRig rig;
  rig.enrol();
  for (int i = 0; i < 3; ++i) CHECK_FALSE(finds_restored(rig));
}

TEST_CASE("a start that ended before it was confirmed is no restore") {
  CoordinatorRig rig;
  rig.enrol();
  CHECK_FALSE(finds_restored(rig));
  set_starts(rig, 2);
  CHECK_FALSE(finds_restored(rig));
}

TEST_CASE("a database that is behind its file, or without it, is restored") {
  CoordinatorRig rig;
  rig.enrol();
  for (int i = 0; i < 3; ++i) CHECK_FALSE(finds_restored(rig));
  SECTION("behind") { set_starts(rig, 1); }
  SECTION("without its file") { std::filesystem::remove(rig.folder.file("starts")); }
  SECTION("far ahead of its file") { set_starts(rig, 9); }
  CHECK(finds_restored(rig));
}

TEST_CASE("a file that is no number is said to be") {
  CoordinatorRig rig;
  write_file_atomic(rig.folder.file("starts"), "many\n", 0600).value();
  StartMark mark(rig.folder.path());
  CHECK(mark.read().error().code == Code::kConfig);
}
