#include "core/db/row_store.h"

#include <catch2/catch.hpp>

#include "core/base/limits.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/core/db/read_from.h"

using namespace leasehold;

namespace {

struct Store {
  test::TempFolder folder{test::TempFolder::Where::kMemory};
  test::FaultyVfs vfs;  // only so that no test waits for the disk
  std::unique_ptr<Database> database = open();

  std::unique_ptr<Database> open() {
    return Database::open(
               {folder.file("site.db"), vfs.name(), [](std::function<void()> task) { task(); }},
               [](Sql& sql) {
                 SystemRandom random;
                 return row_store::migrate(sql, random);
               })
        .value();
  }
  Status put(const std::string& table, const std::string& key, const Json& row) {
    return database->transact_and_wait([&](Sql& sql) {
      return row_store::put(sql, {table, key, row});
    });
  }
  template <class T>
  T read(const std::function<Result<T>(Sql&)>& query) {
    return test::read_from<T>(*database, query);
  }
  row_store::Stream stream() {
    return read<row_store::Stream>([](Sql& sql) { return row_store::stream(sql); });
  }
  std::vector<row_store::OutboxRow> outbox() {
    return read<std::vector<row_store::OutboxRow>>(
        [](Sql& sql) { return row_store::outbox_after(sql, 0, 1000); });
  }
  Json get(const std::string& table, const std::string& key) {
    return read<Json>([&](Sql& sql) { return row_store::get(sql, table, key); });
  }
};

Json node(const std::string& id, int generation = 1) {
  return {{"table", "node"}, {"schema", 1}, {"node", id}, {"generation", generation}};
}

}  // namespace

TEST_CASE("a site's own row is numbered and put into the outbox, newest content kept") {
  Store store;
  REQUIRE(store.put("node", "n1", node("n1", 1)).ok());
  REQUIRE(store.put("node", "n1", node("n1", 2)).ok());
  CHECK(store.get("node", "n1") == node("n1", 2));
  auto outbox = store.outbox();
  REQUIRE(outbox.size() == 2);
  CHECK(outbox[0].seq == 1);
  CHECK(outbox[1].seq == 2);
  CHECK(outbox[1].key == "n1");
  CHECK(outbox[1].text == dump_json(node("n1", 2)));
}

TEST_CASE("private rows and the coordinator's take no number") {
  Store store;
  REQUIRE(store.put("vault", "v1", {{"version", "v1"}, {"node", "n1"}}).ok());
  REQUIRE(store.put("work", "w1", {{"work", "w1"}, {"node", "n1"}}).ok());
  CHECK(store.stream().seq == 0);
  CHECK(store.outbox().empty());
  CHECK(store.get("vault", "v1")["node"] == "n1");
}

TEST_CASE("numbers have no gap when a transaction is rolled back") {
  Store store;
  REQUIRE(store.put("node", "n1", node("n1")).ok());
  Status undone = store.database->transact_and_wait([](Sql& sql) -> Status {
    TRY(row_store::put(sql, {"node", "n2", node("n2")}));
    return Error(Code::kConflict, "no");
  });
  REQUIRE(undone.error().code == Code::kConflict);
  REQUIRE(store.put("node", "n3", node("n3")).ok());
  auto outbox = store.outbox();
  REQUIRE(outbox.size() == 2);
  CHECK(outbox[1].seq == 2);
  CHECK(outbox[1].key == "n3");
}

TEST_CASE("a deletion is a tombstone, once") {
  Store store;
  REQUIRE(store.put("node", "n1", node("n1")).ok());
  for (int i = 0; i < 2; ++i) {
    REQUIRE(store.database
                ->transact_and_wait([](Sql& sql) { return row_store::erase(sql, "node", "n1"); })
                .ok());
  }
  CHECK(store.get("node", "n1").is_null());
  auto outbox = store.outbox();
  REQUIRE(outbox.size() == 2);
  CHECK(outbox[1].text.empty());
}

TEST_CASE("rows are found by node, in order of key") {
  Store store;
  for (const char* key : {"b", "a"}) {
    REQUIRE(store.put("lease", key, {{"lease", key}, {"node", "n1"}}).ok());
  }
  REQUIRE(store.put("lease", "c", {{"lease", "c"}, {"node", "n2"}}).ok());
  auto of_node =
      store.read<std::vector<Json>>([](Sql& sql) { return row_store::all(sql, "lease", "n1"); });
  REQUIRE(of_node.size() == 2);
  CHECK(of_node[0]["lease"] == "a");
  CHECK(
      store.read<std::vector<Json>>([](Sql& sql) { return row_store::all(sql, "lease"); }).size() ==
      3);
  // A row that moves to another node is found there and nowhere else.
  REQUIRE(store.put("lease", "a", {{"lease", "a"}, {"node", "n2"}}).ok());
  CHECK(store.read<std::vector<Json>>([](Sql& sql) { return row_store::all(sql, "lease", "n2"); })
            .size() == 2);
}

TEST_CASE("rows are found by what their keys begin with") {
  Store store;
  for (const char* key : {"r-1", "r-1-p1-01", "r-1-p1-02", "r-10-p1-01", "r-2-p1-01"}) {
    REQUIRE(store.put("step", key, {{"step", key}, {"node", "n1"}}).ok());
  }
  auto below = store.read<std::vector<Json>>(
      [](Sql& sql) { return row_store::all_below(sql, "step", "r-1"); });
  REQUIRE(below.size() == 2);
  CHECK(below[0]["step"] == "r-1-p1-01");
  CHECK(below[1]["step"] == "r-1-p1-02");
}

TEST_CASE("rows that contradict their key, node or table are refused") {
  Store store;
  auto code = [&](const std::string& table, const Json& row) {
    Status status = store.put(table, "n1", row);
    return status.ok() ? Code::kInternal : status.error().code;
  };
  CHECK(code("node", node("n2")) == Code::kInvalidInput);
  CHECK(code("lease", {{"lease", "n1"}}) == Code::kInvalidInput);
  CHECK(code("nothing", node("n1")) == Code::kInvalidInput);
  CHECK(store.stream().seq == 0);
}

TEST_CASE("the incarnation is made once") {
  Store store;
  std::string first = store.stream().incarnation;
  CHECK(first.size() == 18);
  store.database.reset();
  store.database = store.open();
  CHECK(store.stream().incarnation == first);
}

TEST_CASE("the outbox is bounded without a peer") {
  Store store;
  auto bound = static_cast<int64_t>(limits::kOutboxRowsWithoutPeer);
  // As if almost as many rows had been written before.
  REQUIRE(store.database
              ->transact_and_wait([&](Sql& sql) -> Status {
                TRY(sql.run("INSERT INTO outbox(seq, tbl, key) VALUES(1, 'node', 'old')"));
                return sql.run("INSERT INTO outbox(seq, tbl, key) VALUES(?1, 'node', 'newer')",
                               {bound});
              })
              .ok());
  REQUIRE(store.database
              ->transact_and_wait([&](Sql& sql) -> Status {
                for (int i = 0; i < limits::kOutboxPruneEvery; ++i) {
                  TRY(row_store::put(sql, {"node", "n1", node("n1", i)}));
                }
                return {};
              })
              .ok());
  CHECK(store.stream().kept_from == bound);  // the row "old" is gone
  CHECK(store.stream().seq == bound + limits::kOutboxPruneEvery);
}
