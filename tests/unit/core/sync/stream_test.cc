#include "core/sync/stream.h"

#include <catch2/catch.hpp>

#include "tests/unit/core/sync/pair.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

template <class T>
Code code_of(const Result<T>& result) {
  return result.ok() ? Code::kInternal : result.error().code;
}

// A batch for the coordinator of a linked pair, as a site would write it.
std::string batch_of(Pair& pair, const std::string& rows) {
  sync::Cursor cursor = pair.coordinator.position().peer;
  return R"({"after":)" + std::to_string(cursor.seq) + R"(,"head":9,"incarnation":")" +
         cursor.incarnation + R"(","mark":"","rows":[)" + rows + "]}";
}

}  // namespace

TEST_CASE("rows cross byte by byte, tombstones too, and are seen by the hook") {
  Pair pair;
  pair.link();
  Json row = node_row("n1");
  row["nobody knows"] = {{"a", {1, "}],\"\\"}}};
  REQUIRE(pair.site.put("node", "n1", row).ok());
  REQUIRE(pair.site.put("node", "n2", node_row("n2")).ok());
  REQUIRE(pair.site.put("node", "n2", nullptr).ok());
  std::vector<std::string> seen;
  sync::Applied applied =
      pair.coordinator
          .apply(pair.push(),
                 [&](Sql& sql, const RowChange& change) -> Status {
                   Json now =
                       TRY(row_store::get(sql, "node", change.key, pair.coordinator.end.side));
                   CHECK(now == change.row);
                   seen.push_back(change.key);
                   return {};
                 })
          .value();
  CHECK(applied.rows == 3);
  CHECK(applied.cursor.seq == 3);
  CHECK(seen == std::vector<std::string>{"n1", "n2", "n2"});
  auto texts = row_store::texts(pair.coordinator.db, "node", "", "", 9, pair.coordinator.end.side);
  REQUIRE(texts.value().size() == 1);
  CHECK(texts.value()[0].text == dump_json(row));
}

TEST_CASE("a batch again is skipped, one too early changes nothing") {
  Pair pair;
  pair.link();
  REQUIRE(pair.site.put("node", "n1", node_row("n1", 1)).ok());
  std::string first = pair.push();
  REQUIRE(pair.coordinator.apply(first).value().rows == 1);
  REQUIRE(pair.site.put("node", "n1", node_row("n1", 2)).ok());
  std::string second = pair.push();
  REQUIRE(pair.coordinator.apply(second).value().rows == 1);
  REQUIRE(pair.site.put("node", "n1", node_row("n1", 3)).ok());

  CHECK(pair.coordinator.apply(first).value().rows == 0);
  CHECK(pair.coordinator.get("node", "n1")["v"] == 2);
  sync::Cursor later = pair.coordinator.position().peer;
  later.seq = 3;
  later.mark = "";
  REQUIRE(pair.site.put("node", "n1", node_row("n1", 4)).ok());
  sync::Applied gap = pair.coordinator.apply(pair.site.batch(later).text).value();
  CHECK(gap.gap);
  CHECK(gap.cursor.seq == 2);
  CHECK(pair.coordinator.get("node", "n1")["v"] == 2);
}

TEST_CASE("a hook's error undoes rows and cursor") {
  Pair pair;
  pair.link();
  REQUIRE(pair.site.put("node", "n1", node_row("n1")).ok());
  auto refuse = [](Sql&, const RowChange&) { return Status(Error(Code::kConflict, "no")); };
  CHECK(code_of(pair.coordinator.apply(pair.push(), refuse)) == Code::kConflict);
  CHECK(pair.coordinator.get("node", "n1").is_null());
  CHECK(pair.coordinator.position().peer.seq == 0);
}

TEST_CASE("a hostile site's rows are refused whole") {
  Pair pair;
  pair.link();
  const std::string good = dump_json(node_row("n1"));
  auto refused = [&](const std::string& row) {
    Code code = code_of(pair.coordinator.apply(batch_of(pair, good + "," + row)));
    CHECK(pair.coordinator.get("node", "n1").is_null());
    CHECK(pair.coordinator.position().peer.seq == 0);
    return code;
  };
  CHECK(refused(dump_json(work_row("w1"))) == Code::kForbidden);
  CHECK(refused(R"({"table":"work","deleted":"w1"})") == Code::kForbidden);
  CHECK(refused(dump_json(node_row("n2", 1, "s2"))) == Code::kForbidden);
  CHECK(refused(R"({"table":"node","schema":1,"node":"n2","site":7})") == Code::kForbidden);
  CHECK(refused(R"({"table":"vault","schema":1,"version":"v1","node":"n1"})") ==
        Code::kInvalidInput);
  CHECK(refused(R"({"table":"node","schema":2,"node":"n2"})") == Code::kInvalidInput);
  CHECK(refused(R"({"table":"unheard","schema":1,"node":"n2"})") == Code::kInvalidInput);
  CHECK(refused(R"({"table":"unheard","deleted":"n2"})") == Code::kInvalidInput);
  CHECK(refused(R"({"table":"node","schema":1,"node":"../n2"})") == Code::kInvalidInput);
  CHECK(refused(R"({"table":"node","deleted":"n1","by":"me"})") == Code::kInvalidInput);
  // And it is the refused row that did it.
  CHECK(pair.coordinator.apply(batch_of(pair, good)).value().rows == 1);
}

TEST_CASE("a message of another form is refused") {
  Pair pair;
  pair.link();
  const std::string row = dump_json(node_row("n1"));
  auto code = [&](const std::string& text) { return code_of(sync::decode_batch(text)); };
  std::string good = batch_of(pair, row);
  CHECK(sync::decode_batch(good).ok());
  CHECK(code(good + " ") == Code::kMalformed);
  CHECK(code(good.substr(0, good.size() - 1)) == Code::kMalformed);
  CHECK(code(batch_of(pair, row + row)) == Code::kMalformed);
  CHECK(code(batch_of(pair, row + ",")) == Code::kMalformed);
  CHECK(code(batch_of(pair, "[" + row + "]")) == Code::kMalformed);
  CHECK(code(batch_of(pair, R"({"table":"node","schema":1,"node":"n1","node":"n2"})")) ==
        Code::kMalformed);
  CHECK(code(batch_of(pair, R"({"table":"node","schema":1,"node":"n1\u00"})")) == Code::kMalformed);
  CHECK(code(R"({"after":0,"rows":[]})") == Code::kInvalidInput);
  CHECK(code(R"({"after":0,"head":9,"incarnation":"1-00","mark":"","rows":[]})") ==
        Code::kInvalidInput);
  CHECK(code("[]") == Code::kMalformed);
  CHECK(code(std::string(limits::kSyncMessageBytes + 1, '{')) == Code::kTooLarge);
  std::string many = row;
  for (int64_t i = 0; i < limits::kSyncBatchRows; ++i) many += "," + row;
  CHECK(code(batch_of(pair, many)) == Code::kTooLarge);
}

TEST_CASE("the largest batch is a message that its reader takes; a larger row is not kept") {
  Pair pair;
  pair.link();
  const auto row_of = [](size_t bytes) {
    Json row = node_row("n1");
    row["note"] = "";
    row["note"] = std::string(bytes - dump_json(row).size(), 'x');
    return row;
  };
  const Status larger = pair.site.put("node", "n1", row_of(limits::kSyncRowBytes + 1));
  REQUIRE_FALSE(larger.ok());
  CHECK(larger.error().code == Code::kTooLarge);
  REQUIRE(pair.site.put("node", "n1", row_of(limits::kSyncBatchBytes - 1)).ok());
  REQUIRE(pair.site.put("node", "n1", row_of(limits::kSyncRowBytes)).ok());
  sync::Outgoing sent = pair.site.batch(pair.coordinator.position().peer);
  CHECK(sent.upto == 2);
  CHECK(sync::decode_batch(sent.text).ok());
}

TEST_CASE("a batch is bounded in rows and bytes") {
  Pair pair;
  pair.link();
  for (int i = 0; i < 9; ++i) REQUIRE(pair.site.put("node", "n1", node_row("n1", i)).ok());
  sync::Cursor cursor = pair.coordinator.position().peer;
  CHECK(sync::read_batch(pair.site.db, pair.site.end, cursor, {4, 9999}).value().upto == 4);
  CHECK(sync::read_batch(pair.site.db, pair.site.end, cursor, {9, 1}).value().upto == 1);
  CHECK(sync::read_batch(pair.site.db, pair.site.end, cursor, {99, 9999}).value().upto == 9);
}

TEST_CASE("what is acknowledged leaves the outbox, but for the entry at the cursor") {
  Pair pair;
  pair.link();
  for (int i = 0; i < 300; ++i) REQUIRE(pair.site.put("node", "n1", node_row("n1", i)).ok());
  std::string incarnation = pair.site.position().incarnation;
  auto acknowledge = [&](const std::string& of, int64_t seq) {
    REQUIRE(sync::acknowledge(pair.site.db, pair.site.end, of, seq).ok());
    return pair.site.position().kept_from;
  };
  CHECK(acknowledge("2-0000000000000000", 299) == 1);
  CHECK(acknowledge(incarnation, 301) == 1);
  CHECK(acknowledge(incarnation, 299) == 299);
  CHECK(acknowledge(incarnation, 300) == 299);  // not worth a commit
  sync::Cursor behind = pair.coordinator.position().peer;
  CHECK(pair.site.batch(behind).must_refetch);
}

TEST_CASE("a cursor ahead of a stream, or of another history, is a conflict") {
  Pair pair;
  pair.link();
  REQUIRE(pair.site.put("node", "n1", node_row("n1", 1)).ok());
  REQUIRE(pair.coordinator.apply(pair.push()).ok());
  sync::Cursor cursor = pair.coordinator.position().peer;
  CHECK(sync::read_batch(pair.site.db, pair.site.end, cursor).ok());
  cursor.mark[0] = cursor.mark[0] == '0' ? '1' : '0';
  CHECK(code_of(sync::read_batch(pair.site.db, pair.site.end, cursor)) == Code::kConflict);
  cursor.seq = 2;
  CHECK(code_of(sync::read_batch(pair.site.db, pair.site.end, cursor)) == Code::kConflict);
  // The same, seen by the receiver: another entry under a known number.
  sync::Cursor start{cursor.incarnation, 0, ""};
  std::string other = pair.site.batch(start).text;
  other.replace(other.find("\"v\":1"), 5, "\"v\":7");
  CHECK(code_of(pair.coordinator.apply(other)) == Code::kConflict);
}
