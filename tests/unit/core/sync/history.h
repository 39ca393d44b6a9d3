// One random history: two sites and the coordinator whose one database they share, a network that
// loses, doubles and reorders, and everything that may happen to a database. A plain model beside
// them says what each end must hold. Everything comes from one seed.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <random>

#include "core/sync/meet.h"
#include "core/sync/snapshot.h"
#include "tests/unit/core/sync/memory_sql.h"

namespace leasehold::test {

enum class Fault {
  kLoss,
  kDuplicate,
  kReorder,
  kKillBeforeCommit,
  kKillAfterCommit,
  kKillInSnapshot,
  kRestoreSite,        // its start counter tells at once
  kRestoreSiteUnseen,  // the backup took the counters along: only the other end can tell
  kRestoreCoordinator,
  kRestoreCoordinatorUnseen,
  kTombstone,
  kTrim,
  kRefetch,  // what the cursor asked for had been trimmed
  kCutOff,
  // No faults, but what they are to befall.
  kBatch,
  kSnapshot,
  kRestored,
  kCount
};
const char* fault_name(Fault fault);
using FaultCounts = std::array<int64_t, static_cast<size_t>(Fault::kCount)>;

constexpr int kTables = 5;  // of an owner, that take part
constexpr int kKeys = 6;    // of a table
// The version of each row that an owner has; 0: there is none.
using State = std::array<int64_t, size_t{kTables} * kKeys>;
// The states of one stream by number. A restored database begins another line.
using Line = std::map<int64_t, State>;

// How a receiver commits a batch; a test plants a fault here. A kill before the commit undoes it.
enum class Kill { kNone, kBeforeCommit, kAfterCommit };
using Receiver = std::function<Status(MemorySql&, const sync::End&, const sync::Batch&, Kill)>;
Status good_receiver(MemorySql& db, const sync::End& end, const sync::Batch& batch, Kill kill);
// Transaction by transaction: `transact`, unless the process is killed before its commit.
Status commit(MemorySql& db, Kill kill, const std::function<Status(Sql&)>& work);

class SeededRandom : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : engine_(seed) {}
  std::string bytes(size_t count) override {
    std::string made(count, '\0');
    for (char& c : made) c = static_cast<char>(engine_());
    return made;
  }
  int below(int bound) { return static_cast<int>(engine_() % static_cast<uint64_t>(bound)); }
  bool one_in(int count) { return below(count) == 0; }

 private:
  std::mt19937_64 engine_;
};

// What the model knows of one end of one pair. It goes into a backup with the database.
struct EndModel {
  std::shared_ptr<Line> own = std::make_shared<Line>(Line{{0, State{}}});
  std::shared_ptr<Line> copy;  // where the copy comes from
  int64_t exact_from = 0;      // from this number on the copy is a state of its line
  bool pulled = false;         // some own rows came back: they are no state of `own`
  bool pulled_exactly = false;
};

class History {
 public:
  struct Image {
    MemorySql db;
    std::vector<EndModel> models;
    std::vector<int64_t> seqs;
  };
  // Reused from one history to the next.
  struct Databases {
    Databases();
    MemorySql coordinator, site[2], empty_coordinator, empty_site;
    Image coordinator_image, site_image[2];
  };

  History(uint64_t seed, Databases& databases, FaultCounts& faults, Receiver receiver);
  // So many operations, then quiet. "", or what is not as the model says.
  std::string run(int operations);

 private:
  enum class Kind {
    kHello,
    kPush,
    kPushChunk,
    kPull,
    kAskChunk,
    kPosition,
    kBatch,
    kChunk,
    kError
  };
  struct Message {
    Kind kind = Kind::kError;
    std::string text = {};
    sync::Position position = {};
    std::shared_ptr<Line> line = nullptr;  // of the rows within, or of the sender's copy
    int64_t head = 0;                      // of their stream, when they were read
    bool exact = true;                     // they are a state of it
  };
  struct Pair {
    std::deque<Message> up, down;
    bool met = false;
    sync::Position theirs;
    int cut = 0;
    EndModel site, coordinator;
  };
  // One end of a pair.
  struct Here {
    int pair;
    bool at_site;
    MemorySql& db;
    EndModel& model;
    sync::End end;
  };
  Here here(int pair, bool at_site);
  Here any_end() { return here(random_.below(2), random_.one_in(2)); }

  // history.cc
  void operate();
  void exchange(int pair);
  void write(const Here& end);
  void fault(int pair);
  void take_image(const Here& end);
  void restore(const Here& end, bool seen);
  void check_copy(const Here& end);
  bool is_settled(int pair);
  void settle();
  std::string compare(const Here& owner, const Here& other);
  State rows_of(const Here& end, RowOwner owner);
  row_store::Stream stream(const Here& end);
  sync::Position position(const Here& end);
  bool is_exact(const Here& end);
  bool is_exact(const Here& end, const sync::Position& now);
  void fail(const Here& end, const std::string& what);
  void count(Fault fault) { ++faults_[static_cast<size_t>(fault)]; }

  // history_network.cc
  void speak(int pair);
  void deliver(int pair, bool up, bool first);
  void handle_up(int pair, const Message& message);
  void handle_down(int pair, const Message& message);
  void send(std::deque<Message>& queue, Message message);
  Kill draw_kill(const Here& end);
  Status meet(const Here& end, const Message& message, Kill kill, sync::Meeting& meeting);
  Status take_batch(const Here& end, const Message& message, Kill kill);
  Status take_chunk(const Here& end, const Message& message, Kill kill);
  void chunk_of_restore(const Here& end, const Message& message, const sync::Chunk& chunk);
  Message give_batch(const Here& end, const sync::Cursor& from);
  Message give_chunk(const Here& end, const sync::ChunkRequest& request);
  Message give_position(const Here& end, Kind kind);
  sync::Bounds few() { return {quiet_ ? 100 : 1 + random_.below(10), 4096}; }

  SeededRandom random_;
  Databases& databases_;
  FaultCounts& faults_;
  Receiver receiver_;
  std::array<Pair, 2> pairs_;
  int64_t version_ = 0;
  bool quiet_ = false;
  std::string failure_;
};

}  // namespace leasehold::test
