#include "core/sync/meet.h"

#include <catch2/catch.hpp>

#include "tests/unit/core/sync/pair.h"

using namespace leasehold;
using namespace leasehold::test;
using sync::Standing;

namespace {

// What a backup is: the database as it was.
struct Backup {
  MemorySql db;
  explicit Backup(MemorySql& of) { db.copy_from(of); }
};

}  // namespace

TEST_CASE("a first meeting brings snapshots of both, and then both go") {
  Pair pair;
  REQUIRE(pair.site.put("node", "n1", node_row("n1")).ok());
  REQUIRE(pair.coordinator.put("work", "w1", work_row("w1")).ok());
  sync::Meeting met = pair.coordinator.meet(pair.site.position());
  CHECK(met.theirs == Standing::kRefetch);
  CHECK(met.mine == Standing::kRefetch);
  pair.link();
  CHECK(pair.coordinator.get("node", "n1")["v"] == 1);
  CHECK(pair.site.get("work", "w1")["v"] == 1);
  met = pair.coordinator.meet(pair.site.position());
  CHECK(met.theirs == Standing::kGo);
  CHECK(met.mine == Standing::kGo);
}

TEST_CASE("a restored site gets back what the coordinator had, then begins the next epoch") {
  Pair pair;
  pair.link();
  REQUIRE(pair.site.put("node", "n1", node_row("n1", 1)).ok());
  Backup backup(pair.site.db);
  REQUIRE(pair.site.put("node", "n1", node_row("n1", 2)).ok());
  REQUIRE(pair.site.put("node", "n2", node_row("n2", 1)).ok());
  REQUIRE(pair.coordinator.apply(pair.push()).ok());
  std::string late = pair.push();
  std::string old = pair.site.position().incarnation;

  pair.site.db.copy_from(backup.db);
  CHECK(pair.site.meet(pair.coordinator.position()).mine == Standing::kRestored);
  CHECK(pair.site.position().restoring);
  CHECK(pair.coordinator.meet(pair.site.position()).theirs == Standing::kRestored);
  // Nobody acts meanwhile.
  CHECK(pair.site.apply(pair.coordinator.batch(pair.site.position().peer).text).error().code ==
        Code::kUnavailable);
  CHECK(sync::read_batch(pair.site.db, pair.site.end, {}).error().code == Code::kUnavailable);
  pair.coordinator.send_chunks(pair.site);
  CHECK_FALSE(pair.site.position().restoring);
  CHECK(pair.site.get("node", "n1")["v"] == 2);
  CHECK(pair.site.get("node", "n2")["v"] == 1);
  CHECK(sync::epoch_of(pair.site.position().incarnation).value() == 2);

  pair.link();
  CHECK(pair.coordinator.position().peer.incarnation == pair.site.position().incarnation);
  // Whoever goes on under the former name is told so.
  CHECK(old != pair.site.position().incarnation);
  CHECK(pair.coordinator.apply(late).error().code == Code::kSuperseded);
}

TEST_CASE("a restored site whose rows are the newest keeps them") {
  Pair pair;
  pair.link();
  REQUIRE(pair.site.put("node", "n1", node_row("n1", 1)).ok());
  REQUIRE(pair.site.db.transact([&](Sql& sql) { return sync::found_restored(sql, pair.site.end); })
              .ok());
  CHECK(pair.site.meet(pair.coordinator.position()).mine == Standing::kRefetch);
  CHECK(pair.site.get("node", "n1")["v"] == 1);
  CHECK(sync::epoch_of(pair.site.position().incarnation).value() == 2);
  pair.link();
  CHECK(pair.coordinator.get("node", "n1")["v"] == 1);
}

TEST_CASE("a site's word alone never makes a coordinator take rows back") {
  Pair pair;
  pair.link();
  REQUIRE(pair.coordinator.put("work", "w1", work_row("w1", 1)).ok());
  sync::Position lie = pair.site.position();
  lie.peer.seq = 7;
  sync::Meeting met = pair.coordinator.meet(lie);
  CHECK(met.mine == Standing::kRestored);  // for people to see
  CHECK_FALSE(met.position.restoring);
  CHECK(met.position.wants.empty());
  CHECK(pair.coordinator.put("work", "w2", work_row("w2")).ok());
  // Nor does it take what nobody asked for.
  sync::ChunkRequest made_up{RowOwner::kCoordinator, "t-1", "", 0, "", {}, "pool_policy", ""};
  std::string text = sync::read_chunk(pair.site.db, pair.site.end, made_up).value();
  CHECK_FALSE(pair.coordinator.apply_chunk(text).value().applied);
}

TEST_CASE(
    "a restored coordinator is known by its sites, and refuses changes until it has its rows") {
  Pair pair;
  pair.link();
  Backup backup(pair.coordinator.db);
  REQUIRE(pair.coordinator.put("work", "w1", work_row("w1", 1)).ok());
  REQUIRE(pair.site.apply(pair.coordinator.batch(pair.site.position().peer).text).ok());

  pair.coordinator.db.copy_from(backup.db);
  CHECK(pair.coordinator.meet(pair.site.position()).mine == Standing::kRestored);
  CHECK_FALSE(pair.coordinator.position().restoring);
  pair.coordinator.db
      .transact([&](Sql& sql) { return sync::found_restored(sql, pair.coordinator.end); })
      .value();
  CHECK(pair.coordinator.meet(pair.site.position()).mine == Standing::kRestored);
  CHECK(pair.coordinator.put("work", "w2", work_row("w2")).error().code == Code::kUnavailable);
  CHECK(pair.coordinator.get("work", "w2").is_null());
  // Its other sites are none of this one's business.
  sync::End other = sync::End::of_coordinator("s2");
  CHECK(row_store::put(pair.coordinator.db, {"work", "w2", work_row("w2")}, other.side).ok());
  pair.link();
  CHECK(pair.coordinator.get("work", "w1")["v"] == 1);
  CHECK(pair.coordinator.put("work", "w2", work_row("w2")).ok());
}

TEST_CASE("a stream that went on by itself after a restore is known by its mark") {
  Pair pair;
  pair.link();
  Backup backup(pair.site.db);
  REQUIRE(pair.site.put("node", "n1", node_row("n1", 1)).ok());
  REQUIRE(pair.coordinator.apply(pair.push()).ok());
  pair.site.db.copy_from(backup.db);
  REQUIRE(pair.site.put("node", "n1", node_row("n1", 2)).ok());
  REQUIRE(pair.site.put("node", "n1", node_row("n1", 3)).ok());
  CHECK(pair.site.meet(pair.coordinator.position()).mine == Standing::kRestored);
  pair.coordinator.send_chunks(pair.site);
  CHECK(pair.site.get("node", "n1")["v"] == 1);
}

TEST_CASE("a snapshot goes on where it was killed, and removes what is gone") {
  Pair pair;
  pair.link();
  for (int i = 0; i < 6; ++i) {
    std::string id = "n" + std::to_string(i);
    REQUIRE(pair.site.put("node", id, node_row(id)).ok());
  }
  REQUIRE(pair.coordinator.apply(pair.push()).ok());
  REQUIRE(pair.site.put("node", "n1", nullptr).ok());
  REQUIRE(pair.site.put("node", "n5", nullptr).ok());
  pair.coordinator.db
      .transact(
          [&](Sql& sql) { return sync::want_snapshot(sql, pair.coordinator.end, pair.random); })
      .value();
  std::vector<std::string> changed;
  auto hook = [&](Sql&, const RowChange& change) -> Status {
    changed.push_back((change.row.is_null() ? "-" : "+") + change.key);
    return {};
  };
  auto chunk = [&] {
    sync::ChunkRequest want = pair.coordinator.position().wants.at(0);
    return sync::read_chunk(pair.site.db, pair.site.end, want, {2, 9999}).value();
  };
  std::string first = chunk();
  REQUIRE(pair.coordinator.apply_chunk(first, hook).value().applied);
  CHECK(pair.coordinator.position().wants.at(0).after == "n2");
  CHECK_FALSE(pair.coordinator.apply_chunk(first, hook).value().applied);  // it came twice
  // Batches wait until the snapshot is complete.
  CHECK(pair.coordinator.apply(pair.push()).value().must_refetch);
  while (!pair.coordinator.position().wants.empty()) {
    REQUIRE(pair.coordinator.apply_chunk(chunk(), hook).value().applied);
  }
  CHECK(changed == std::vector<std::string>{"-n1", "-n5"});
  CHECK(pair.coordinator.position().peer.seq == 8);
}

TEST_CASE("a chunk with another row than its hash says, or a foreign one, is refused") {
  Pair pair;
  REQUIRE(pair.site.put("node", "n1", node_row("n1")).ok());
  pair.coordinator.meet(pair.site.position());
  sync::ChunkRequest want = pair.coordinator.position().wants.at(0);
  std::string good = sync::read_chunk(pair.site.db, pair.site.end, want).value();
  auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return pair.coordinator.apply_chunk(text).error().code;
  };
  CHECK(with("\"v\":1", "\"v\":2") == Code::kMalformed);
  CHECK(with("\"site\":\"s1\"", "\"site\":\"s2\"") == Code::kForbidden);
  CHECK(with("\"table\":\"node\",\"ticket\"", "\"table\":\"work\",\"ticket\"") == Code::kForbidden);
  // A piece of another snapshot changes nothing, whatever it holds.
  std::string late = good;
  late.replace(late.find(want.ticket), want.ticket.size(), "t-0000000000000000");
  CHECK_FALSE(pair.coordinator.apply_chunk(late).value().applied);
  CHECK(pair.coordinator.get("node", "n1").is_null());
  CHECK(pair.coordinator.apply_chunk(good).value().applied);
}

TEST_CASE("tables that silently differ are found at the same number only") {
  Pair pair;
  pair.link();
  REQUIRE(pair.site.put("node", "n1", node_row("n1")).ok());
  auto hashes = sync::table_hashes(pair.site.db, pair.site.end, RowOwner::kSite).value();
  auto compare = [&] {
    auto parsed = sync::parse_table_hashes(sync::table_hashes_json(hashes)).value();
    return sync::differing_tables(pair.coordinator.db, pair.coordinator.end, parsed);
  };
  CHECK(compare().error().code == Code::kConflict);
  REQUIRE(pair.coordinator.apply(pair.push()).ok());
  CHECK(compare().value().empty());
  REQUIRE(pair.coordinator.db.run("UPDATE node SET row=replace(row, '\"v\":1', '\"v\":2')").ok());
  CHECK(compare().value() == std::vector<std::string>{"node"});
  pair.coordinator.db
      .transact(
          [&](Sql& sql) { return sync::want_snapshot(sql, pair.coordinator.end, pair.random); })
      .value();
  CHECK(compare().error().code == Code::kConflict);
  pair.site.send_chunks(pair.coordinator);
  CHECK(compare().value().empty());
}

TEST_CASE("positions cross unchanged, and others are refused") {
  Pair pair;
  REQUIRE(pair.site.put("node", "n1", node_row("n1")).ok());
  pair.site.meet(pair.coordinator.position());
  Json json = sync::position_json(pair.site.position());
  REQUIRE(json["wants"].size() == 1);
  CHECK(sync::position_json(sync::parse_position(json).value()) == json);
  auto field = [&](const std::string& member, const Json& value) {
    Json other = json;
    other[member] = value;
    return sync::parse_position(other).error().field;
  };
  CHECK(field("incarnation", "1-xyz") == "incarnation");
  CHECK(field("incarnation", "") == "incarnation");
  CHECK(field("seq", -1) == "seq");
  CHECK(field("peer", Json::array()) == "peer");
  CHECK(field("wants", Json::array({Json::object()})) == "owner");
  CHECK(field("more", 1) == "more");
  CHECK(field("wants", Json::array({json["wants"][0], json["wants"][0], json["wants"][0]})) ==
        "wants");
}
