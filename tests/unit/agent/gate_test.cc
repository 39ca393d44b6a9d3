// The gate itself: exit and ready ask the verifier, and a run whose evidence does not hold gives
// neither trust nor ready back, whatever its steps said.
#include <catch2/catch.hpp>

#include "agent/steps/accept.h"
#include "agent/steps/evidence.h"
#include "agent/workflows/names.h"
#include "tests/support/release_world.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

// The world's rows as a step sees them.
std::shared_ptr<Snapshot> rows_of(ReleaseWorld& world) {
  TempFolder folder;
  auto snapshot = std::make_shared<Snapshot>();
  auto database = Database::open({folder.file("gate.db"), "", {}}, [&](Sql& sql) -> Status {
    TRY(Engine::migrate(sql));
    TRY(world.migrate(sql));
    return world.load(sql, world.run(), *snapshot);
  });
  REQUIRE(database.ok());
  return snapshot;
}

// The parked world's rows, with one thing done to them, as ready_rows() sees them.
Result<Done> ready_after(const std::function<void(Snapshot&)>& spoil) {
  ReleaseWorld world(kParkWorkflow);
  VirtualTime time;
  Workflow workflow = world.workflow(time);
  std::shared_ptr<Snapshot> snapshot = rows_of(world);
  spoil(*snapshot);
  StepContext context;
  context.run = world.run();
  context.rows = snapshot;
  context.clock = &time;
  context.memory = std::make_shared<Json>(Json::object());
  return workflow.succeed(context);
}

Json row_of_kind(const Snapshot& rows, const std::string& kind, std::string& key) {
  for (const Json* row : rows.all("result")) {
    if (json_text(*row, "kind") != kind) continue;
    key = json_text(*row, "result");
    return *row;
  }
  FAIL("no such result");
  return {};
}

}  // namespace

TEST_CASE("law no-dirty-ready: good evidence makes the node ready") {
  Result<Done> done = ready_after([](Snapshot&) {});
  INFO((done.ok() ? "" : done.error().text()));
  REQUIRE(done.ok());
  CHECK(done.value().rows.at(0).row["state"] == "ready");
}

TEST_CASE("law no-dirty-ready: evidence that does not hold never makes a node ready") {
  SECTION("no run is named") {
    Result<Done> done = ready_after([](Snapshot& rows) {
      Json node = rows.get("node", "n1");
      node["cleanRun"] = "";
      rows.put("node", "n1", node);
    });
    REQUIRE_FALSE(done.ok());
    CHECK(done.error().code == Code::kInternal);
  }
  SECTION("the run evidence is missing") {
    Result<Done> done = ready_after([](Snapshot& rows) {
      std::string key;
      Json row = row_of_kind(rows, "run", key);
      row["run"] = "r-other";
      rows.put("result", key, row);
    });
    REQUIRE_FALSE(done.ok());
    CHECK(done.error().code == Code::kNotFound);
  }
  SECTION("a result that it names is missing") {
    Result<Done> done = ready_after([](Snapshot& rows) {
      std::string key;
      Json row = row_of_kind(rows, "part", key);
      row["digest"] = std::string(64, '0');
      rows.put("result", key, row);
    });
    REQUIRE_FALSE(done.ok());
    CHECK(done.error().code == Code::kNotFound);
  }
  SECTION("its signature was made by somebody else") {
    Result<Done> done = ready_after([](Snapshot& rows) {
      std::string key;
      Json row = row_of_kind(rows, "run", key);
      Json stranger = Json::array();
      for (const std::string& pem : make_pki().sign_in(site_agent_identity()).chain_pem) {
        stranger.push_back(pem);
      }
      row["chain"] = stranger;
      rows.put("result", key, row);
    });
    REQUIRE_FALSE(done.ok());
    CHECK(done.error().code == Code::kWipeUnverified);
    CHECK(done.error().message.find("untrusted") != std::string::npos);
  }
}

namespace {

// enrol.accept over the parked world's evidence, as if an enrolment had made it, with one thing
// done to its rows.
StepOutcome accept_after(const std::function<void(Snapshot&)>& spoil) {
  ReleaseWorld world(kParkWorkflow);
  VirtualTime time;
  world.workflow(time);
  std::shared_ptr<Snapshot> rows = rows_of(world);
  Json node = rows->get("node", "n1");
  node["state"] = "enrolling";
  node["cleanRun"] = "";
  rows->put("node", "n1", node);
  StepContext context;
  context.run = world.run();
  context.run.id = RunId("r-1");
  RamdiskRow ramdisk;
  ramdisk.boot = "b-1";
  ramdisk.node = context.run.node;
  ramdisk.run = context.run.id;
  ramdisk.state = "joined";
  rows->put("ramdisk", "b-1", ramdisk.change().row);
  spoil(*rows);
  std::map<std::string, Json> outputs = {{"metal.rotateBmcCredential", Json::object()}};
  context.outputs = &outputs;
  context.rows = rows;
  context.clock = &time;
  context.memory = std::make_shared<Json>(Json::object());
  return accept_machine(world.tools(), context);
}

Code refusal_of(const StepOutcome& outcome) {
  const Error* error = std::get_if<Error>(&outcome);
  REQUIRE(error != nullptr);
  return error->code;
}

void with_node(Snapshot& rows, const std::string& member, const Json& value) {
  Json node = rows.get("node", "n1");
  node[member] = value;
  rows.put("node", "n1", node);
}

}  // namespace

TEST_CASE("law no-dirty-ready: an enrolment is accepted behind its own evidence only") {
  StepOutcome good = accept_after([](Snapshot&) {});
  const Done* done = std::get_if<Done>(&good);
  REQUIRE(done != nullptr);
  CHECK(done->rows.at(0).row["cleanRun"] == "r-1");
  CHECK(done->rows.at(1).row["state"] == "closed");

  CHECK(refusal_of(accept_after([](Snapshot& rows) {
          std::string key;
          Json row = row_of_kind(rows, "run", key);
          Json stranger = Json::array();
          for (const std::string& pem : make_pki().sign_in(site_agent_identity()).chain_pem) {
            stranger.push_back(pem);
          }
          row["chain"] = stranger;
          rows.put("result", key, row);
        })) == Code::kWipeUnverified);
  // Evidence of another run is none of this one's.
  CHECK(refusal_of(accept_after([](Snapshot& rows) {
          std::string key;
          Json row = row_of_kind(rows, "run", key);
          row["run"] = "r-0";
          rows.put("result", key, row);
        })) == Code::kNotFound);
  CHECK(refusal_of(accept_after([](Snapshot& rows) { with_node(rows, "state", "failed"); })) ==
        Code::kInternal);
  CHECK(refusal_of(accept_after([](Snapshot& rows) {
          with_node(rows, "trust", "tenant-controlled");
        })) == Code::kInternal);
  CHECK(refusal_of(accept_after([](Snapshot& rows) { with_node(rows, "generation", 6); })) ==
        Code::kInternal);
}

TEST_CASE("law no-dirty-ready: a boot that was claimed twice is accepted by nobody") {
  CHECK(refusal_of(accept_after([](Snapshot& rows) {
          Json ramdisk = rows.get("ramdisk", "b-1");
          ramdisk["state"] = "claimed-twice";
          rows.put("ramdisk", "b-1", ramdisk);
        })) == Code::kBootClaimedTwice);
}
