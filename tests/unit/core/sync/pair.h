// A site and its coordinator with real rows, no network between them: messages are texts that a
// test hands from one to the other.
#pragma once

#include <catch2/catch.hpp>

#include "core/sync/meet.h"
#include "core/sync/snapshot.h"
#include "core/sync/table_hash.h"
#include "tests/unit/core/sync/memory_sql.h"

namespace leasehold::test {

class CountingRandom : public Random {
 public:
  std::string bytes(size_t count) override { return std::string(count, static_cast<char>(++n_)); }

 private:
  int n_ = 0;
};

inline Json node_row(const std::string& id, int version = 1, const std::string& site = "s1") {
  return {{"table", "node"}, {"schema", 1}, {"node", id}, {"site", site}, {"v", version}};
}
inline Json work_row(const std::string& id, int version = 1) {
  return {{"table", "work"}, {"schema", 1}, {"work", id}, {"node", "n1"}, {"v", version}};
}

struct Pair {
  struct End {
    sync::End end;
    CountingRandom& random;
    MemorySql db = {};

    Status put(const std::string& table, const std::string& key, const Json& row) {
      return db.transact([&](Sql& sql) {
        return row_store::put(sql, {table, key, row}, end.side);
      });
    }
    Json get(const std::string& table, const std::string& key) {
      return row_store::get(db, table, key, end.side).value();
    }
    sync::Position position() { return sync::position(db, end).value(); }
    Result<sync::Applied> apply(const std::string& text, const sync::Hook& hook = {}) {
      sync::Batch batch = TRY(sync::decode_batch(text));
      sync::Applied applied;
      TRY(db.transact([&](Sql& sql) -> Status {
        applied = TRY(sync::apply_batch(sql, end, batch, hook));
        return {};
      }));
      return applied;
    }
    Result<sync::ChunkApplied> apply_chunk(const std::string& text, const sync::Hook& hook = {}) {
      sync::Chunk chunk = TRY(sync::decode_chunk(text));
      sync::ChunkApplied applied;
      TRY(db.transact([&](Sql& sql) -> Status {
        applied = TRY(sync::apply_chunk(sql, end, chunk, random, hook));
        return {};
      }));
      return applied;
    }
    sync::Outgoing batch(const sync::Cursor& from) {
      return sync::read_batch(db, end, from).value();
    }
    sync::Meeting meet(const sync::Position& theirs) {
      sync::Meeting meeting;
      db.transact([&](Sql& sql) -> Status {
          meeting = TRY(sync::meet(sql, end, theirs, random));
          return {};
        }).value();
      return meeting;
    }
    // Everything that the other wants, chunk by chunk.
    void send_chunks(End& to, sync::Bounds bounds = {}) {
      while (!to.position().wants.empty()) {
        auto text = sync::read_chunk(db, end, to.position().wants.front(), bounds);
        REQUIRE(text.ok());
        REQUIRE(to.apply_chunk(text.value()).value().applied);
      }
    }
  };
  CountingRandom random;
  End site{sync::End::of_site("s1"), random};
  End coordinator{sync::End::of_coordinator("s1"), random};

  Pair() {
    site.db
        .transact([&](Sql& sql) -> Status {
          TRY(row_store::migrate(sql, random));
          return sync::migrate(sql);
        })
        .value();
    coordinator.db
        .transact([&](Sql& sql) -> Status {
          TRY(row_store::migrate(sql, random, RowOwner::kCoordinator));
          TRY(sync::migrate(sql));
          TRY(row_store::add_site(sql, {RowOwner::kCoordinator, "s2"}, random));
          return row_store::add_site(sql, coordinator.end.side, random);
        })
        .value();
  }
  // Both streams can go on from their cursors.
  void link() {
    for (int i = 0; i < 4; ++i) {
      coordinator.meet(site.position());
      site.meet(coordinator.position());
      site.send_chunks(coordinator);
      coordinator.send_chunks(site);
    }
  }
  // The site's next batch for the coordinator.
  std::string push() { return site.batch(coordinator.position().peer).text; }
};

}  // namespace leasehold::test
