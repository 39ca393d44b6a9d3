#include "tests/unit/core/sync/history.h"

#include "core/sync/table_hash.h"

namespace leasehold::test {
namespace {

constexpr int kMeetingsToSettle = 3000;
constexpr int kMeetingsUntilHello = 60;

const char* const kSiteTables[kTables] = {"node", "lease", "run", "step", "event"};
const char* const kCoordinatorTables[kTables] = {"work", "node_admin", "pool_policy", "clearance",
                                                 "hardware_profile"};

const char* table_name(RowOwner owner, int table) {
  return owner == RowOwner::kSite ? kSiteTables[table] : kCoordinatorTables[table];
}

Json row_of(const std::string& table, const std::string& key, const std::string& site,
            int64_t version) {
  const TableInfo* info = find_table(table);
  Json row = {{"table", table}, {"schema", 1}, {info->key, key}, {"v", version}};
  if (version % 4 == 0) row["unknown to this version"] = {{"deep", {"\"}]},", version}}};
  if (info->has_node) row["node"] = key;
  if (table == "node") row["site"] = site;
  return row;
}

}  // namespace

const char* fault_name(Fault fault) {
  static const char* const kNames[] = {"loss",
                                       "duplicate",
                                       "reorder",
                                       "kill before commit",
                                       "kill after commit",
                                       "kill within a snapshot",
                                       "site restored",
                                       "site restored, unseen",
                                       "coordinator restored",
                                       "coordinator restored, unseen",
                                       "tombstone",
                                       "outbox trimmed",
                                       "must refetch",
                                       "cut off for long",
                                       "(batches",
                                       "snapshots",
                                       "restores completed)"};
  return kNames[static_cast<size_t>(fault)];
}

Status commit(MemorySql& db, Kill kill, const std::function<Status(Sql&)>& work) {
  return db.transact([&](Sql& sql) -> Status {
    TRY(work(sql));
    return kill == Kill::kBeforeCommit ? Status(Error(Code::kStopped, "killed")) : Status();
  });
}

Status good_receiver(MemorySql& db, const sync::End& end, const sync::Batch& batch, Kill kill) {
  return commit(db, kill, [&](Sql& sql) -> Status {
    TRY(sync::apply_batch(sql, end, batch));
    return {};
  });
}

History::Databases::Databases() {
  SeededRandom random(1);
  empty_site
      .transact([&](Sql& sql) -> Status {
        TRY(row_store::migrate(sql, random));
        return sync::migrate(sql);
      })
      .value();
  empty_coordinator
      .transact([&](Sql& sql) -> Status {
        TRY(row_store::migrate(sql, random, RowOwner::kCoordinator));
        TRY(sync::migrate(sql));
        TRY(row_store::add_site(sql, {RowOwner::kCoordinator, "s0"}, random));
        return row_store::add_site(sql, {RowOwner::kCoordinator, "s1"}, random);
      })
      .value();
}

History::History(uint64_t seed, Databases& databases, FaultCounts& faults, Receiver receiver)
    : random_(seed), databases_(databases), faults_(faults), receiver_(std::move(receiver)) {
  databases_.coordinator.copy_from(databases_.empty_coordinator);
  databases_.coordinator_image.models.clear();
  for (int i = 0; i < 2; ++i) {
    databases_.site[i].copy_from(databases_.empty_site);
    databases_.site_image[i].models.clear();
  }
}

History::Here History::here(int pair, bool at_site) {
  Pair& both = pairs_[static_cast<size_t>(pair)];
  std::string name = "s" + std::to_string(pair);
  return {pair, at_site, at_site ? databases_.site[pair] : databases_.coordinator,
          at_site ? both.site : both.coordinator,
          at_site ? sync::End::of_site(name) : sync::End::of_coordinator(name)};
}

std::string History::run(int operations) {
  for (int i = 0; i < operations && failure_.empty(); ++i) operate();
  settle();
  for (int pair = 0; pair < 2 && failure_.empty(); ++pair) {
    failure_ = compare(here(pair, true), here(pair, false));
    if (failure_.empty()) failure_ = compare(here(pair, false), here(pair, true));
  }
  return failure_;
}

void History::operate() {
  int pair = random_.below(2);
  int draw = random_.below(100);
  for (Pair& each : pairs_) each.cut -= each.cut > 0 ? 1 : 0;
  if (draw < 25) {
    write(any_end());
  } else if (draw < 65) {
    exchange(pair);
  } else if (draw < 94) {
    deliver(pair, random_.one_in(2), false);
  } else {
    fault(pair);
  }
}

// Mostly a word and its answer; what is not delivered now comes late.
void History::exchange(int pair) {
  speak(pair);
  if (!random_.one_in(8)) deliver(pair, true, !random_.one_in(8));
  if (!random_.one_in(8)) deliver(pair, false, !random_.one_in(8));
}

// One transaction of a few changes of own rows.
void History::write(const Here& end) {
  row_store::Stream before = stream(end);
  if (before.restoring && end.at_site) return;  // an agent that must not act
  State state = before.restoring ? State{} : end.model.own->at(before.seq);
  Line written;
  int64_t seq = before.seq;
  Status status = end.db.transact([&](Sql& sql) -> Status {
    for (int i = random_.below(4); i >= 0; --i) {
      int table = random_.below(kTables), key = random_.below(kKeys);
      int64_t& version = state[static_cast<size_t>(table * kKeys + key)];
      std::string name = table_name(end.end.side.self, table), id = "k" + std::to_string(key);
      if (random_.one_in(4)) {
        TRY(row_store::erase(sql, name, id, end.end.side));
        if (version == 0) continue;
        version = 0;
        count(Fault::kTombstone);
      } else {
        if (version == 0 || !random_.one_in(5)) version = ++version_;
        TRY(row_store::put(sql, {name, id, row_of(name, id, end.end.site, version)}, end.end.side));
      }
      written[++seq] = state;
    }
    return {};
  });
  if (before.restoring) {
    if (status.ok() && seq > before.seq) fail(end, "wrote while it was being restored");
    return;
  }
  if (!status.ok()) return fail(end, status.error().text());
  end.model.own->merge(written);
  if (stream(end).seq != seq) fail(end, "the stream has a gap");
}

void History::fault(int pair) {
  Here end = any_end();
  int draw = random_.below(12);
  if (draw < 5) return take_image(end);
  if (draw < 10) return restore(end, random_.one_in(2));
  if (draw < 11) {
    count(Fault::kTrim);
    end.db
        .transact([&](Sql& sql) {
          return row_store::trim_outbox(sql, stream(end).seq - random_.below(3), end.end.side);
        })
        .value();
    return;
  }
  count(Fault::kCutOff);
  pairs_[static_cast<size_t>(pair)].cut = 20 + random_.below(80);
}

void History::take_image(const Here& end) {
  Image& image = end.at_site ? databases_.site_image[end.pair] : databases_.coordinator_image;
  image.db.copy_from(end.db);
  image.models.clear();
  image.seqs.clear();
  for (int pair = 0; pair < 2; ++pair) {
    Here each = end.at_site ? end : here(pair, false);
    image.models.push_back(each.model);
    image.seqs.push_back(stream(each).seq);
  }
}

// The database is what it was. Its streams begin other lines: what was written since is lost.
void History::restore(const Here& end, bool seen) {
  Image& image = end.at_site ? databases_.site_image[end.pair] : databases_.coordinator_image;
  if (image.models.empty()) return;
  count(end.at_site ? (seen ? Fault::kRestoreSite : Fault::kRestoreSiteUnseen)
                    : (seen ? Fault::kRestoreCoordinator : Fault::kRestoreCoordinatorUnseen));
  end.db.copy_from(image.db);
  for (int pair = 0; pair < 2; ++pair) {
    if (end.at_site && pair != end.pair) continue;
    Here each = here(pair, end.at_site);
    auto index = static_cast<size_t>(pair);
    each.model = image.models[index];
    const Line& line = *each.model.own;
    each.model.own = std::make_shared<Line>(line.begin(), line.upper_bound(image.seqs[index]));
    if (seen) {
      each.db.transact([&](Sql& sql) { return sync::found_restored(sql, each.end); }).value();
    }
    // An agent starts anew; a coordinator may be back before its agents have noticed.
    if (end.at_site || random_.one_in(2)) pairs_[index].met = false;
  }
}

State History::rows_of(const Here& end, RowOwner owner) {
  State state{};
  for (int table = 0; table < kTables; ++table) {
    const char* name = table_name(owner, table);
    for (const auto& row : row_store::texts(end.db, name, "", "", 100, end.end.side).value()) {
      int key = std::stoi(row.key.substr(1));
      state[static_cast<size_t>(table * kKeys + key)] =
          std::stol(row.text.substr(row.text.find("\"v\":") + 4));
    }
  }
  return state;
}

row_store::Stream History::stream(const Here& end) {
  return row_store::stream(end.db, end.end.side).value();
}

sync::Position History::position(const Here& end) {
  return sync::position(end.db, end.end).value();
}

// Not while a snapshot is under way, nor before what changed meanwhile has come again.
bool History::is_exact(const Here& end) { return is_exact(end, position(end)); }

bool History::is_exact(const Here& end, const sync::Position& now) {
  bool wants = false;
  for (const auto& want : now.wants) wants = wants || want.owner == end.end.peer();
  return !wants && !now.restoring && !now.peer.incarnation.empty() && end.model.copy &&
         now.peer.seq >= end.model.exact_from;
}

void History::check_copy(const Here& end) {
  sync::Position now = position(end);
  if (!is_exact(end, now)) return;
  auto found = end.model.copy->find(now.peer.seq);
  if (found == end.model.copy->end()) return fail(end, "the copy is at a number that never was");
  if (rows_of(end, end.end.peer()) != found->second)
    fail(end, "the copy is not the state at its cursor");
}

bool History::is_settled(int pair) {
  Pair& both = pairs_[static_cast<size_t>(pair)];
  if (!both.met || !both.up.empty() || !both.down.empty()) return false;
  sync::Position site = position(here(pair, true)), coordinator = position(here(pair, false));
  auto has_all = [](const sync::Position& of, const sync::Position& owner) {
    return !of.restoring && of.wants.empty() && of.peer.incarnation == owner.incarnation &&
           of.peer.seq == owner.seq;
  };
  return has_all(site, coordinator) && has_all(coordinator, site);
}

// Nothing fails any more; how long until all is the same?
void History::settle() {
  quiet_ = true;
  for (int i = 0; i < kMeetingsToSettle && failure_.empty(); ++i) {
    if (is_settled(0) && is_settled(1)) return;
    for (int pair = 0; pair < 2; ++pair) {
      Pair& both = pairs_[static_cast<size_t>(pair)];
      both.cut = 0;
      // A coordinator that came back as an older one broke the connection: then comes a hello.
      if (i % kMeetingsUntilHello == 0) both.met = false;
      if (!is_settled(pair)) speak(pair);
      while (!both.up.empty()) deliver(pair, true, true);
      while (!both.down.empty()) deliver(pair, false, true);
    }
  }
  if (failure_.empty()) failure_ = "the ends do not come to rest";
}

std::string History::compare(const Here& owner, const Here& other) {
  RowOwner self = owner.end.side.self;
  State expected = owner.model.own->at(stream(owner).seq);
  if (rows_of(owner, self) != expected) return "the owner's rows are not the model's";
  if (rows_of(other, self) != expected) return "the copy's rows are not the model's";
  auto hashes = sync::table_hashes(owner.db, owner.end, self);
  if (!hashes.ok()) return hashes.error().text();
  auto differing = sync::differing_tables(other.db, other.end, hashes.value());
  if (!differing.ok()) return differing.error().text();
  return differing.value().empty() ? "" : "the hashes of " + differing.value()[0] + " differ";
}

void History::fail(const Here& end, const std::string& what) {
  if (!failure_.empty()) return;
  failure_ =
      std::string(end.at_site ? "site " : "coordinator towards ") + end.end.site + ": " + what;
}

}  // namespace leasehold::test
