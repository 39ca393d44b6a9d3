// A site's database with one leased node, n1, and the intake through which machines are enrolled
// and works accepted; runs begin and nothing drives them. Tests only.
#pragma once

#include <catch2/catch.hpp>

#include "agent/hardware_history.h"
#include "agent/intake.h"
#include "agent/workflows/all.h"
#include "agent/workflows/names.h"
#include "tests/support/release_world.h"

namespace leasehold::test {

// A site with one leased node, n1, and its intake.
class Enrolling {
 public:
  Enrolling() : world(kReleaseWorkflow) {
    world.workflow(time);
    database = Database::open({folder.file("e.db"), "", {}}, [this](Sql& sql) -> Status {
                 TRY(Engine::migrate(sql));
                 TRY(world.migrate(sql));
                 return note_all_hardware(sql);
               }).value();
    start();
  }

  // The agent's engine, over runs that nothing drives.
  void start() {
    Engine::Options options;
    options.database = database.get();
    options.clock = &time;
    options.turns = &time;
    options.threads = &time;
    options.workflows = all_workflows(world.tools());
    options.load = Store::load;
    options.apply = Store::put_of_step;
    options.fail_unknown = [](const RunInfo&, const Snapshot&, const Error&) { return Done{}; };
    engine = std::make_unique<Engine>(std::move(options));
    intake = std::make_unique<Intake>(*engine, world.tools());
  }

  Status in(const std::function<Status(Sql&)>& body) { return database->transact_and_wait(body); }
  Result<EnrolOutcome> enrol(const Json& list) {
    EnrolOutcome outcome;
    Status committed = in([&](Sql& sql) -> Status {
      outcome = TRY(intake->enrol(sql, list));
      return {};
    });
    if (!committed.ok()) return committed.error();
    return outcome;
  }
  // The answer to one work row about a node.
  Json work(const std::string& node, const std::string& kind) {
    Json row = {{"table", "work"}, {"schema", 1}, {"node", node}, {"kind", kind}};
    row["work"] = "w-" + std::to_string(++works_);
    Json answer;
    REQUIRE(in([&](Sql& sql) -> Status {
              IntakeOutcome outcome = TRY(intake->apply(sql, Json::array({row})));
              answer = outcome.work_results.at(0);
              return {};
            }).ok());
    return answer;
  }
  std::string workflow_of(const Json& run) {
    std::string found;
    REQUIRE(in([&](Sql& sql) -> Status {
              found = json_text(TRY(Store::get(sql, "run", run.get<std::string>())), "workflow");
              return {};
            }).ok());
    return found;
  }
  NodeRow node(const std::string& id) {
    NodeRow found;
    Status read = in([&](Sql& sql) -> Status {
      found = TRY(Store::node(sql, NodeId(id)));
      return {};
    });
    INFO((read.ok() ? "" : read.error().text()));
    REQUIRE(read.ok());
    return found;
  }
  // Past the laws: how a node stands that the test begins with.
  void set(const RowChange& change) {
    REQUIRE(in([&](Sql& sql) { return row_store::put(sql, change); }).ok());
  }
  Status put(const NodeRow& changed) {
    return in([&](Sql& sql) { return Store::put(sql, changed.change()); });
  }
  std::vector<VaultVersion> vault(const std::string& id) {
    std::vector<VaultVersion> versions;
    REQUIRE(in([&](Sql& sql) -> Status {
              for (const Json& row : TRY(Store::of_node(sql, "vault", NodeId(id)))) {
                versions.push_back(TRY(VaultVersion::parse(row)));
              }
              return {};
            }).ok());
    return versions;
  }
  std::string password(const VaultVersion& version) {
    return world.tools().vault->password_of(version).value();
  }

  TempFolder folder;
  VirtualTime time;
  ReleaseWorld world;
  std::unique_ptr<Database> database;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Intake> intake;

 private:
  int works_ = 0;
};

inline Json machine(const std::string& name, const std::string& url,
                    const std::string& password = "box-1") {
  Json made = {{"pool", "h100"}, {"bmc", {{"url", url}, {"user", "root"}, {"password", password}}}};
  if (!name.empty()) made["node"] = name;
  return made;
}

// A node whose first enrolment failed, as failure_rows() leaves it.
inline NodeRow failed_enrolment(Enrolling& site, const std::string& name) {
  REQUIRE(site.enrol(Json::array({machine(name, "https://10.0.0.8")})).ok());
  NodeRow node = site.node(name);
  node.state = NodeState::kFailed;
  node.failed_from = "enrolling";
  node.maintenance = true;
  node.power_off_owed = true;
  node.disks = make_manifest().to_json();
  site.set(node.change());
  // Its run has ended.
  site.engine = nullptr;
  REQUIRE(site.in([&](Sql& sql) -> Status {
                TRY(Engine::abandon(sql, Error(Code::kWipeUnverified, "a disk"), kNow));
                return {};
              })
              .ok());
  site.start();
  return node;
}

}  // namespace leasehold::test
