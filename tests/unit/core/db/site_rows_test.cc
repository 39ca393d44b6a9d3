#include <catch2/catch.hpp>

#include "core/base/limits.h"
#include "core/db/row_store.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/core/db/read_from.h"

using namespace leasehold;
using row_store::Side;

namespace {

const Side kS1{RowOwner::kCoordinator, "s1"};
const Side kS2{RowOwner::kCoordinator, "s2"};

Json work(const std::string& id, int version = 1) {
  return {{"table", "work"}, {"schema", 1}, {"work", id}, {"node", "n1"}, {"v", version}};
}

// A coordinator's database with two sites.
struct Centre {
  test::TempFolder folder{test::TempFolder::Where::kMemory};
  test::FaultyVfs vfs;  // only so that no test waits for the disk
  std::unique_ptr<Database> database =
      open(folder.file("centre.db"), [](Sql& sql) -> Status {
        SystemRandom random;
        TRY(row_store::migrate(sql, random, RowOwner::kCoordinator));
        TRY(row_store::add_site(sql, kS1, random));
        return row_store::add_site(sql, kS2, random);
      }).value();

  Result<std::unique_ptr<Database>> open(const std::string& path, Database::Transaction migrate) {
    return Database::open({path, vfs.name(), [](std::function<void()> task) { task(); }},
                          std::move(migrate));
  }
  Status put(const std::string& table, const std::string& key, const Json& row, const Side& side) {
    return database->transact_and_wait([&](Sql& sql) {
      return row_store::put(sql, {table, key, row}, side);
    });
  }
  template <class T>
  T read(const std::function<Result<T>(Sql&)>& query) {
    return test::read_from<T>(*database, query);
  }
  Json get(const std::string& key, const Side& side) {
    return read<Json>([&](Sql& sql) { return row_store::get(sql, "work", key, side); });
  }
  row_store::Stream stream(const Side& side) {
    return read<row_store::Stream>([&](Sql& sql) { return row_store::stream(sql, side); });
  }
};

}  // namespace

TEST_CASE("sites in one database share neither rows nor numbers") {
  Centre centre;
  REQUIRE(centre.put("work", "w1", work("w1", 1), kS1).ok());
  REQUIRE(centre.put("work", "w1", work("w1", 2), kS2).ok());
  REQUIRE(centre.put("work", "w2", work("w2", 3), kS2).ok());
  CHECK(centre.get("w1", kS1)["v"] == 1);
  CHECK(centre.get("w1", kS2)["v"] == 2);
  CHECK(centre.get("w2", kS1).is_null());
  CHECK(centre.stream(kS1).seq == 1);
  CHECK(centre.stream(kS2).seq == 2);
  CHECK(centre.stream(kS1).incarnation != centre.stream(kS2).incarnation);
  auto outbox = centre.read<std::vector<row_store::OutboxRow>>(
      [](Sql& sql) { return row_store::outbox_after(sql, 0, 9, kS2); });
  REQUIRE(outbox.size() == 2);
  CHECK(outbox[1].key == "w2");
  auto all = centre.read<std::vector<row_store::PlacedRow>>(
      [](Sql& sql) { return row_store::page(sql, "work", "s1", "w1", 9); });
  REQUIRE(all.size() == 2);
  CHECK(all[0].site == "s2");
  CHECK(all[1].row["v"] == 3);
}

TEST_CASE("a coordinator does not write a site's rows, nor for a site that it does not know") {
  Centre centre;
  Json node = {{"table", "node"}, {"schema", 1}, {"node", "n1"}};
  CHECK(centre.put("node", "n1", node, kS1).error().code == Code::kForbidden);
  CHECK(centre.put("node", "n1", nullptr, kS1).error().code == Code::kForbidden);
  CHECK(centre.put("vault", "v1", {{"version", "v1"}, {"node", "n1"}}, kS1).error().code ==
        Code::kForbidden);
  Side unknown{RowOwner::kCoordinator, "s3"};
  CHECK(centre.put("work", "w1", work("w1"), unknown).error().code == Code::kNotFound);
  CHECK(centre.get("w1", unknown).is_null());
}

TEST_CASE("an outbox lets go of what was acknowledged, never of its newest number") {
  Centre centre;
  for (int i = 0; i < 5; ++i) REQUIRE(centre.put("work", "w1", work("w1", i), kS1).ok());
  auto trim = [&](int64_t below) {
    centre.database
        ->transact_and_wait([&](Sql& sql) { return row_store::trim_outbox(sql, below, kS1); })
        .value();
    return centre.stream(kS1).kept_from;
  };
  CHECK(trim(3) == 3);
  CHECK(trim(99) == 5);
  CHECK(centre.stream(kS1).seq == 5);
}

TEST_CASE("a stream that is being restored takes no change, then goes on as another") {
  Centre centre;
  REQUIRE(centre.put("work", "w1", work("w1"), kS1).ok());
  std::string before = centre.stream(kS1).incarnation;
  auto run = [&](const Database::Transaction& work) {
    centre.database->transact_and_wait(work).value();
  };
  run([](Sql& sql) { return row_store::begin_restore(sql, kS1); });
  CHECK(centre.stream(kS1).restoring);
  CHECK(centre.put("work", "w2", work("w2"), kS1).error().code == Code::kUnavailable);
  CHECK(centre.get("w2", kS1).is_null());
  CHECK(centre.put("work", "w2", work("w2"), kS2).ok());
  run([](Sql& sql) {
    SystemRandom random;
    return row_store::begin_incarnation(sql, 2, random, kS1);
  });
  CHECK_FALSE(centre.stream(kS1).restoring);
  CHECK(centre.stream(kS1).incarnation.substr(0, 2) == "2-");
  CHECK(centre.stream(kS1).incarnation != before);
  REQUIRE(centre.put("work", "w2", work("w2"), kS1).ok());
  CHECK(centre.stream(kS1).seq == 2);
}

TEST_CASE("a database of the form before coordinators is refused with what to do") {
  Centre centre;
  std::string path = centre.folder.file("old.db");
  REQUIRE(centre
              .open(path,
                    [](Sql& sql) {
                      return sql.run(
                          "CREATE TABLE stream(name TEXT PRIMARY KEY NOT NULL, incarnation TEXT "
                          "NOT NULL) WITHOUT ROWID");
                    })
              .ok());
  auto opened = centre.open(path, [](Sql& sql) {
    SystemRandom random;
    return row_store::migrate(sql, random);
  });
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().code == Code::kConfig);
  CHECK(opened.error().message.find("empty folder") != std::string::npos);
}
