// The gate itself: exit and ready ask the verifier, and a run whose evidence does not hold gives
// neither trust nor ready back, whatever its steps said.
#include <catch2/catch.hpp>

#include "agent/steps/evidence.h"
#include "agent/workflows/names.h"
#include "tests/support/release_world.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

// The parked world's rows, with one thing done to them, as ready_rows() sees them.
Result<Done> ready_after(const std::function<void(Snapshot&)>& spoil) {
  ReleaseWorld world(kParkWorkflow);
  VirtualTime time;
  TempFolder folder;
  Workflow workflow = world.workflow(time);
  auto snapshot = std::make_shared<Snapshot>();
  auto database = Database::open({folder.file("gate.db"), "", {}}, [&](Sql& sql) -> Status {
    TRY(Engine::migrate(sql));
    TRY(world.migrate(sql));
    return world.load(sql, world.run(), *snapshot);
  });
  REQUIRE(database.ok());
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
