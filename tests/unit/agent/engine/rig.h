// An engine over a database without waits, in virtual time, with the rows of a site: what most
// tests of the engine need. It can be stopped and started again over the same database.
#pragma once

#include <catch2/catch.hpp>
#include <deque>

#include "agent/engine/engine.h"
#include "core/db/row_store.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/temp_folder.h"
#include "tests/support/virtual_time.h"

namespace leasehold::test {

inline RunInfo run_info(const std::string& id, const std::string& node = "n1") {
  RunInfo run;
  run.id = RunId(id);
  run.node = NodeId(node);
  run.lease = LeaseId("l1");
  run.work = WorkId("w1");
  run.workflow = "fake@1";
  run.generation = 7;
  run.started_ms = kEpochMs;
  return run;
}

inline RowChange node_row(const std::string& state) {
  return {"node", "n1", {{"table", "node"}, {"schema", 1}, {"node", "n1"}, {"state", state}}};
}

inline Place place(const std::string& name, std::function<StepOutcome(StepContext&)> run) {
  return {name, "1", "title of " + name, 60'000, std::move(run)};
}

struct Rig {
  TempFolder folder{TempFolder::Where::kMemory};
  FaultyVfs disk;
  VirtualTime time;
  Workflow workflow;
  std::vector<RunEvent> events;
  std::vector<Json> notices;
  std::string crash_file;
  std::unique_ptr<Database> database;
  std::unique_ptr<Engine> engine;

  Rig() {
    workflow.name = "fake@1";
    workflow.succeed = [](StepContext&) -> Result<Done> {
      return Done{{}, {node_row("ready")}, {}};
    };
    workflow.fail = [](StepContext&, const Error&) { return Done{{}, {node_row("failed")}, {}}; };
  }
  ~Rig() { stop(); }

  // What a killed process would have done is forgotten.
  void stop() {
    engine.reset();
    time.forget();
    database.reset();
  }
  Status start() {
    database =
        TRY(Database::open({folder.file("site.db"), disk.name(), {}}, [](Sql& sql) -> Status {
          SystemRandom random;
          TRY(row_store::migrate(sql, random));
          return Engine::migrate(sql);
        }));
    engine = std::make_unique<Engine>(options());
    return engine->recover();
  }
  Engine::Options options() {
    Engine::Options made;
    made.database = database.get();
    made.clock = &time;
    made.turns = &time;
    made.threads = &time;
    made.workflows = {workflow};
    made.crash_file = crash_file;
    made.load = [](Sql& sql, const RunInfo& run, Snapshot& rows) -> Status {
      Json node = TRY(row_store::get(sql, "node", run.node.str()));
      if (!node.is_null()) rows.put("node", run.node.str(), node);
      return {};
    };
    made.apply = [](Sql& sql, const RowChange& change) { return row_store::put(sql, change); };
    made.fail_unknown = [](const RunInfo&, const Snapshot&, const Error&) {
      return Done{{}, {node_row("failed-generic")}, {}};
    };
    made.on_event = [this](const RunEvent& event) { events.push_back(event); };
    made.on_notice = [this](const Json& notice) { notices.push_back(notice); };
    return made;
  }
  Status begin(const RunInfo& run) {
    TRY(database->transact_and_wait([&](Sql& sql) { return engine->begin(sql, run); }));
    engine->launch(run.id);
    return {};
  }
  // Turns until no run is open, or `until` holds.
  void go(const std::function<bool()>& until = [] { return false; }) {
    for (int i = 0; i < 20'000 && !engine->open_runs().empty() && !until(); ++i) {
      REQUIRE(time.turn());
    }
    REQUIRE((engine->open_runs().empty() || until()));
    // The last commit's events are posted, not yet told.
    while (engine->open_runs().empty() && time.turn()) {
    }
  }
  void run_whole(const RunInfo& run = run_info("r-1")) {
    REQUIRE(start().ok());
    REQUIRE(begin(run).ok());
    go();
  }
  Json row(const std::string& table, const std::string& key) {
    Json found;
    database
        ->transact_and_wait([&](Sql& sql) -> Status {
          found = TRY(row_store::get(sql, table, key));
          return {};
        })
        .value();
    return found;
  }
  // "started a/1 done a/1 ..." as the journal has it, with the pass before the place if not 1.
  std::string journal(const std::string& run = "r-1") {
    std::string all;
    database
        ->transact_and_wait([&](Sql& sql) {
          return sql.query(
              "SELECT kind, pass, place, attempt FROM journal WHERE run=?1 ORDER BY seq", {run},
              [&](const SqlRow& r) {
                std::string pass = r.integer(1) > 1 ? std::to_string(r.integer(1)) + ":" : "";
                std::string attempt = r.integer(3) > 1 ? "/" + std::to_string(r.integer(3)) : "";
                all += (all.empty() ? "" : " ") + r.text(0);
                if (!r.text(2).empty()) all += "(" + pass + r.text(2) + attempt + ")";
              });
        })
        .value();
    return all;
  }
};

}  // namespace leasehold::test
