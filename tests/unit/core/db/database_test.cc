#include "core/db/database.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "core/base/limits.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/temp_folder.h"

using namespace leasehold;

namespace {

Status migrate(Sql& sql) { return sql.run("CREATE TABLE IF NOT EXISTS t(k TEXT PRIMARY KEY)"); }
Database::Options options(const std::string& path, const std::string& vfs = "") {
  return {path, vfs, [](std::function<void()> task) { task(); }};
}
std::unique_ptr<Database> open(const std::string& path, const std::string& vfs = "") {
  Result<std::unique_ptr<Database>> database = Database::open(options(path, vfs), migrate);
  if (!database.ok()) FAIL(database.error().text());
  return std::move(database).value();
}
Database::Transaction insert(const std::string& key) {
  return [key](Sql& sql) { return sql.run("INSERT INTO t VALUES(?1)", {key}); };
}
std::string keys(Database& database) {
  std::string all;
  Status status = database.transact_and_wait([&](Sql& sql) {
    return sql.query("SELECT k FROM t ORDER BY rowid", {},
                     [&](const SqlRow& row) { all += row.text(0) + " "; });
  });
  REQUIRE(status.ok());
  return all;
}
Code code_of(const Result<std::unique_ptr<Database>>& result) {
  return result.ok() ? Code::kInternal : result.error().code;
}

}  // namespace

TEST_CASE("a committed transaction is there after reopening") {
  test::TempFolder folder;
  open(folder.file("a.db"))->transact_and_wait(insert("one")).value();
  CHECK(keys(*open(folder.file("a.db"))) == "one ");
}

TEST_CASE("the database can be read by its owner only") {
  test::TempFolder folder;
  auto database = open(folder.file("a.db"));
  for (const char* name : {"a.db", "a.db-wal"}) {
    auto mode = std::filesystem::status(folder.file(name)).permissions();
    CHECK((mode & std::filesystem::perms(0077)) == std::filesystem::perms::none);
  }
}

TEST_CASE("transactions queued together share one sync and fail one by one, in order") {
  test::TempFolder folder;
  test::FaultyVfs vfs;
  auto database = open(folder.file("a.db"), vfs.name());
  std::promise<void> begun;
  std::promise<void> gate;
  std::string told;
  // The first holds the thread, so that the others gather behind it.
  database->transact(
      [&](Sql&) {
        begun.set_value();
        gate.get_future().wait();
        return Status();
      },
      [&](Status) { told += "0"; });
  begun.get_future().wait();
  auto tell = [&](const char* name) {
    return [&told, name](Status status) { told += status.ok() ? name : "!"; };
  };
  database->transact(insert("a"), tell("a"));
  database->transact(
      [](Sql& sql) -> Status {
        TRY(sql.run("INSERT INTO t VALUES('half')"));
        return Error(Code::kConflict, "no");
      },
      tell("b"));
  database->transact(insert("a"), tell("c"));
  database->transact(insert("d"), tell("d"));
  int before = vfs.log_syncs;
  gate.set_value();
  CHECK(keys(*database) == "a d ");
  CHECK(vfs.log_syncs - before == 1);
  database.reset();
  CHECK(told == "0a!!d");
}

TEST_CASE("a full disk is IO with the path, and nothing of the transaction happened") {
  test::TempFolder folder;
  test::FaultyVfs vfs;
  auto database = open(folder.file("a.db"), vfs.name());
  REQUIRE(database->transact_and_wait(insert("before")).ok());
  vfs.full = true;
  Status status = database->transact_and_wait(insert("lost"));
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == Code::kIo);
  CHECK(status.error().message.find(folder.file("a.db")) != std::string::npos);
  CHECK(status.error().message.find("free space") != std::string::npos);
  CHECK(vfs.full_hits > 0);
  vfs.full = false;
  REQUIRE(database->transact_and_wait(insert("after")).ok());
  CHECK(keys(*database) == "before after ");
  database.reset();
  CHECK(keys(*open(folder.file("a.db"))) == "before after ");
}

TEST_CASE("a full disk fails every transaction of a group, and each is told so") {
  test::TempFolder folder;
  test::FaultyVfs vfs;
  auto database = open(folder.file("a.db"), vfs.name());
  std::promise<void> gate;
  int failed = 0;
  database->transact(
      [&](Sql&) {
        gate.get_future().wait();
        return Status();
      },
      nullptr);
  for (const char* key : {"a", "b", "c"}) {
    database->transact(insert(key),
                       [&](Status s) { failed += !s.ok() && s.error().code == Code::kIo; });
  }
  vfs.full = true;
  gate.set_value();
  Status last = database->transact_and_wait(insert("d"));
  CHECK(failed == 3);
  CHECK_FALSE(last.ok());
  vfs.full = false;
  CHECK(keys(*database) == "");
}

TEST_CASE("a damaged file is DATABASE, named, with what to do") {
  test::TempFolder folder;
  std::string path = folder.file("a.db");
  SECTION("no database at all") { std::ofstream(path) << std::string(8192, 'x'); }
  SECTION("a broken page") {
    {
      auto database = open(path);
      Status filled = database->transact_and_wait([](Sql& sql) -> Status {
        for (int i = 0; i < 2000; ++i) {
          TRY(sql.run("INSERT INTO t VALUES(?1)", {"key-" + std::to_string(i)}));
        }
        return {};
      });
      REQUIRE(filled.ok());
    }
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(3 * 4096);
    file << std::string(4096, '\x55');
  }
  auto result = Database::open(options(path), migrate);
  REQUIRE(code_of(result) == Code::kDatabase);
  CHECK(result.error().message.find(path) != std::string::npos);
  CHECK(result.error().message.find("restore the newest backup") != std::string::npos);
}

TEST_CASE("a second agent on the same file is refused with CONFIG, until the first has gone") {
  test::TempFolder folder;
  auto first = open(folder.file("a.db"));
  auto second = Database::open(options(folder.file("a.db")), migrate);
  REQUIRE(code_of(second) == Code::kConfig);
  CHECK(second.error().message.find("another agent uses it") != std::string::npos);
  first.reset();
  CHECK(Database::open(options(folder.file("a.db")), migrate).ok());
}

TEST_CASE("a folder that is missing is CONFIG") {
  test::TempFolder folder;
  auto result = Database::open(options(folder.file("no/a.db")), migrate);
  REQUIRE(code_of(result) == Code::kConfig);
  CHECK(result.error().message.find(folder.file("no/a.db")) != std::string::npos);
}

TEST_CASE("a failed migration leaves nothing behind") {
  test::TempFolder folder;
  auto result = Database::open(options(folder.file("a.db")), [](Sql& sql) -> Status {
    TRY(sql.run("CREATE TABLE half(k)"));
    return Error(Code::kInvalidInput, "no");
  });
  REQUIRE(code_of(result) == Code::kInvalidInput);
  auto database = open(folder.file("a.db"));
  int64_t tables = -1;
  REQUIRE(database
              ->transact_and_wait([&](Sql& sql) {
                return sql.query("SELECT count(*) FROM sqlite_master WHERE name='half'", {},
                                 [&](const SqlRow& row) { tables = row.integer(0); });
              })
              .ok());
  CHECK(tables == 0);
}

TEST_CASE("the log keeps its length through many commits") {
  test::TempFolder folder;
  std::string log = folder.file("a.db-wal");
  {
    auto database = open(folder.file("a.db"));
    REQUIRE(std::filesystem::file_size(log) == limits::kWalBytesKept);
    std::string big(100 * 4096, 'b');
    for (int i = 0; i < 30; ++i) {
      REQUIRE(database->transact_and_wait(insert(big + std::to_string(i))).ok());
    }
    CHECK(std::filesystem::file_size(log) < 2 * limits::kWalBytesKept);
    CHECK(std::filesystem::file_size(folder.file("a.db")) > size_t{30} * 100 * 4096 / 2);
  }
  // A database at rest is one file, so that a copy of it is a whole backup.
  CHECK_FALSE(std::filesystem::exists(log));
  auto again = open(folder.file("a.db"));
  int64_t rows = 0;
  REQUIRE(again
              ->transact_and_wait([&](Sql& sql) {
                return sql.query("SELECT count(*) FROM t", {},
                                 [&](const SqlRow& row) { rows = row.integer(0); });
              })
              .ok());
  CHECK(rows == 30);
}

TEST_CASE("many threads commit at once and nothing is lost") {
  test::TempFolder folder;
  auto database = open(folder.file("a.db"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        database->transact_and_wait(insert(std::to_string(t) + "-" + std::to_string(i))).value();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::string all = keys(*database);
  CHECK(std::count(all.begin(), all.end(), ' ') == 160);
}

TEST_CASE("a statement may run inside its own rows") {
  test::TempFolder folder;
  auto database = open(folder.file("a.db"));
  REQUIRE(database->transact_and_wait(insert("a")).ok());
  REQUIRE(database->transact_and_wait(insert("b")).ok());
  int seen = 0;
  const char* select = "SELECT k FROM t";
  REQUIRE(database
              ->transact_and_wait([&](Sql& sql) {
                return sql.query(select, {}, [&](const SqlRow&) {
                  (void)sql.query(select, {}, [&](const SqlRow&) { ++seen; });
                });
              })
              .ok());
  CHECK(seen == 4);
}

TEST_CASE("whoever waits for changes is told of each commit that changed something, and no other") {
  test::TempFolder folder;
  int told = 0;
  Database::Options made = options(folder.file("a.db"));
  made.committed = [&] { ++told; };
  auto database = Database::open(std::move(made), migrate).value();
  CHECK(told == 0);
  CHECK(database->transact_and_wait(insert("one")).ok());
  CHECK(told == 1);
  CHECK(keys(*database) == "one ");
  CHECK_FALSE(database->transact_and_wait(insert("one")).ok());
  CHECK(told == 1);
}
