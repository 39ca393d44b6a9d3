#include "agent/sync/start_counter.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "core/base/clock.h"
#include "core/db/row_store.h"
#include "tests/support/temp_folder.h"

using namespace leasehold;
using namespace leasehold::test;
namespace fs = std::filesystem;

namespace {

// A box with its vault key and its database; `start` is one life of its agent.
struct Box {
  TempFolder folder{TempFolder::Where::kMemory};
  std::string key = folder.file("vault.key");
  std::string counter_file = key + ".starts";
  std::string db = folder.file("site.db");

  StartCounter::Start start(bool killed_before_file = false) {
    auto counter = StartCounter::open(key).value();
    StartCounter::Start seen;
    SystemRandom random;
    Database::open({db, "", {}}, [&](Sql& sql) -> Status {
      TRY(row_store::migrate(sql, random));
      seen = TRY(counter->raise(sql));
      return {};
    }).value();
    if (!killed_before_file) REQUIRE(counter->confirm(seen).ok());
    return seen;
  }
};

}  // namespace

TEST_CASE("start counter: the starts of one box are its own and are counted") {
  Box box;
  for (int64_t i = 1; i <= 3; ++i) {
    StartCounter::Start start = box.start();
    CHECK(start.own);
    CHECK(start.number == i);
  }
}

TEST_CASE("start counter: a kill between the database and the file is no restore, twice in a row") {
  Box box;
  box.start();
  CHECK(box.start(true).own);
  CHECK(box.start(true).own);
  CHECK(box.start().own);
}

TEST_CASE("start counter: an older database is known") {
  Box box;
  box.start();
  fs::copy_file(box.db, box.folder.file("backup.db"));
  box.start();
  box.start();
  fs::copy_file(box.folder.file("backup.db"), box.db, fs::copy_options::overwrite_existing);
  fs::remove(box.db + "-wal");
  StartCounter::Start start = box.start();
  CHECK_FALSE(start.own);
  CHECK(start.number == 4);
}

TEST_CASE("start counter: a database without its file, or with a copy of it, is known") {
  Box box;
  box.start();
  box.start();
  Box other;
  fs::copy_file(box.db, other.db);
  SECTION("without") {}
  SECTION("a copy of the file") { fs::copy_file(box.counter_file, other.counter_file); }
  SECTION("an unreadable file") { std::ofstream(other.counter_file) << "{\"starts\":"; }
  StartCounter::Start start = other.start();
  CHECK_FALSE(start.own);
  CHECK_FALSE(start.finding.empty());
}

TEST_CASE("start counter: a lost database is known") {
  Box box;
  box.start();
  fs::remove(box.db);
  fs::remove(box.db + "-wal");
  CHECK_FALSE(box.start().own);
}

TEST_CASE(
    "start counter: a second agent with the same vault key is refused while the first lives") {
  Box box;
  auto first = StartCounter::open(box.key).value();
  auto second = StartCounter::open(box.key);
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().code == Code::kConfig);
  first.reset();
  CHECK(StartCounter::open(box.key).ok());
}
