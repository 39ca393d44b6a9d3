#include <catch2/catch.hpp>

#include "coordinator/limits.h"
#include "coordinator/store/starts.h"
#include "core/rows/coordinator_rows.h"
#include "core/rows/site_rows.h"
#include "tests/support/fake_site.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

Json profile() {
  return {{"profile", "generic"}, {"vetted", {{"by", "ann"}, {"why", "looked at one"}}}};
}

void make_pool(CoordinatorRig& rig, const std::string& pool) {
  rig.post("/v1/hardware-profiles", profile());
  Answer made =
      rig.post("/v1/pools",
               {{"pool", pool}, {"siteId", "s1"}, {"policy", {{"hardwareProfile", "generic"}}}});
  REQUIRE(made.status == 200);
}

}  // namespace

TEST_CASE("rows flow both ways once agent and coordinator have met") {
  CoordinatorRig rig;
  FakeSite site(rig, rig.enrol());
  make_pool(rig, "h100");
  site.put(node_row("n1", "deployed"));
  site.put(run_row("r-1", "n1", "open"));
  CHECK(site.push_text("{}").code() == "CONFLICT");  // no hello yet
  CHECK(site.pull().code() == "CONFLICT");
  CHECK(site.meet() == "go");
  site.sync();
  Json node = rig.get("/v1/nodes/s1/n1").body;
  CHECK(node["state"] == "deployed");
  CHECK(node["pool"] == "h100");
  CHECK(node["openRun"] == "r-1");
  CHECK(node["clearance"] == "none");
  CHECK(node["placeable"] == false);
  CHECK(rig.get("/v1/nodes?state=deployed&pool=h100").body["items"].size() == 1);
  CHECK(rig.get("/v1/nodes?state=ready").body["items"].empty());
  CHECK(rig.get("/v1/runs?node=n1").body["items"][0]["run"] == "r-1");
  CHECK(rig.get("/v1/status").body["openRuns"] == 1);
  CHECK(site.row("pool_policy", "h100")["revision"] == 1);
  CHECK(site.row("hardware_profile", "generic")["revision"] == 1);
  // The node's admin row was made when the node arrived.
  site.pull_all();
  CHECK(site.row("node_admin", "n1")["pool"] == "h100");
  site.put(run_row("r-1", "n1", "succeeded"));
  site.push_all();
  CHECK(rig.get("/v1/nodes/s1/n1").body["openRun"].is_null());
  CHECK(rig.get("/v1/runs?state=succeeded").body["items"].size() == 1);
  Json shown = rig.get("/v1/sites/s1").body;
  CHECK(shown["behind"] == 0);
  CHECK(shown["acknowledged"].get<int64_t>() > 0);
}

TEST_CASE("what an operator changes of a node is sent to its site") {
  CoordinatorRig rig;
  FakeSite site(rig, rig.enrol());
  site.put(node_row("n1", "deployed"));
  site.meet();
  site.sync();
  Json change = {{"cordon", true}, {"labels", {{"rack", "12"}}}, {"location", "hall 2"}};
  Answer patched = rig.call("PATCH", "/v1/nodes/s1/n1", change, &rig.admin);
  REQUIRE(patched.status == 200);
  CHECK(patched.body["cordon"] == true);
  site.pull_all();
  CHECK(site.row("node_admin", "n1")["location"] == "hall 2");
  auto field = [&](const Json& body) {
    return rig.call("PATCH", "/v1/nodes/s1/n1", body, &rig.admin).field();
  };
  CHECK(field({{"cordon", "yes"}}) == "cordon");
  CHECK(field({{"state", "ready"}}) == "state");
  CHECK(field({{"labels", {{"rack", 12}}}}) == "labels.rack");
  CHECK(rig.call("PATCH", "/v1/nodes/s1/n9", change, &rig.admin).status == 404);
}

TEST_CASE("a work says what it is about, and its answer comes back") {
  CoordinatorRig rig;
  FakeSite site(rig, rig.enrol());
  site.put(node_row("n1", "deployed"));
  site.meet();
  site.sync();
  Answer asked = rig.post("/v1/nodes/s1/n1/work", {{"kind", "release"}, {"reason", "over"}});
  REQUIRE(asked.status == 202);
  CHECK(asked.body["state"] == "pending");
  const std::string id = json_text(asked.body, "work");
  site.pull_all();
  Json row = site.row("work", id);
  CHECK(row["expects"] == Json{{"state", "deployed"}, {"lease", "l-1"}});
  WorkRow work = WorkRow::parse(row).value();
  CHECK(work.kind == "release");
  CHECK(work.deadline_ms == kNow + limits::kWorkDeadlineMs);

  site.put(work_result_row(work, Error(Code::kConflict, "the node moved on"), ""));
  site.push_all();
  Json answered = rig.get("/v1/works/" + id).body;
  CHECK(answered["state"] == "refused");
  CHECK(answered["code"] == "CONFLICT");
  Answer accepted = rig.post("/v1/nodes/s1/n1/work", {{"kind", "maintenance"}, {"on", true}});
  const std::string second = json_text(accepted.body, "work");
  site.pull_all();
  CHECK(site.row("work", second)["expects"] == Json::object());
  CHECK(site.row("work", second)["on"] == true);
  site.put(work_result_row(WorkRow::parse(site.row("work", second)).value(), {}, "r-7"));
  site.push_all();
  CHECK(rig.get("/v1/works/" + second).body["state"] == "accepted");
  CHECK(rig.get("/v1/works/" + second).body["run"] == "r-7");

  auto refused = [&](const Json& body) {
    Answer answer = rig.post("/v1/nodes/s1/n1/work", body);
    return answer.code() + " " + answer.field();
  };
  CHECK(refused({{"kind", "explode"}}) == "INVALID_INPUT kind");
  CHECK(refused({{"kind", "maintenance"}}) == "INVALID_INPUT on");
  CHECK(refused({{"kind", "release"}, {"on", true}}) == "INVALID_INPUT on");
  CHECK(refused({{"kind", "recover"}}) == "CONFLICT ");
  CHECK(refused({{"kind", "release"}, {"reason", std::string(501, 'x')}}) ==
        "INVALID_INPUT reason");
  CHECK(rig.get("/v1/works/w-none").status == 404);
}

TEST_CASE("of two agents of one site only the newest acts") {
  CoordinatorRig rig;
  FakeSite first(rig, rig.enrol(), "i-first");
  first.put(node_row("n1", "deployed"));
  first.meet(1);
  first.sync();
  FakeSite second(rig, first.agent, "i-second");
  CHECK(second.meet(2) == "restored");  // it lacks what the coordinator has: pulled back
  CHECK(second.row("node", "n1")["state"] == "deployed");
  first.put(run_row("r-1", "n1", "open"));
  Answer refused = first.push_text("{}");
  CHECK(refused.status == 409);
  CHECK(refused.code() == "SUPERSEDED");
  CHECK(first.pull().code() == "SUPERSEDED");
  CHECK(first.meet(3) == "superseded");
  second.sync();
  CHECK(rig.get("/v1/runs").body["items"].empty());
}

TEST_CASE("a start that was counted before is a copy's") {
  CoordinatorRig rig;
  FakeSite site(rig, rig.enrol(), "i-1");
  CHECK(site.meet(5) == "go");
  site.instance = "i-2";
  CHECK(site.meet(5) == "restored");
  site.instance = "i-3";
  CHECK(site.meet(6) == "go");
}

namespace {

// It says hello with this number of its box's starts.
bool waits(FakeSite& site, int64_t starts) { return !site.hello(starts).body["former"].is_null(); }

}  // namespace

TEST_CASE("an agent on another box waits until the former one has said that it stopped") {
  CoordinatorRig rig;
  FakeSite first(rig, rig.enrol(), "i-first");
  first.meet(1);
  CHECK_FALSE(waits(first, 1));
  FakeSite second(rig, first.agent, "i-second");
  second.box = "box-2";
  CHECK(waits(second, 2));
  const Json shown = rig.get("/v1/sites/s1").body;
  CHECK(shown["former"]["heardAt"].is_string());
  CHECK_THAT(json_text(shown["alarm"], "message"), Catch::Contains("leasehold site takeover s1"));
  CHECK(rig.get("/v1/status").body["alarms"][0]["site"] == "s1");
  SECTION("it says so") {
    CHECK(second.stopped().status == 200);  // not he
    CHECK(waits(second, 2));
    CHECK(first.hello(2).body["verdict"] == "superseded");
    CHECK(waits(second, 2));  // an answer may have been lost
    CHECK(first.stopped().status == 200);
  }
  SECTION("its term is over, and its open runs") {
    rig.clock.advance(limits::kAuthorityTermMs);
    CHECK(waits(second, 2));
    rig.clock.advance(limits::kFormerAgentMs);
  }
  SECTION("an operator says that it is off for good") {
    CHECK(rig.post("/v1/sites/s1/takeover", Json::object()).status == 200);
    CHECK(rig.post("/v1/sites/s1/takeover", Json::object()).code() == "CONFLICT");
  }
  SECTION("its own box starts anew, and the one that waited never acts") {
    first.instance = "i-third";
    CHECK_FALSE(waits(first, 3));
    CHECK(second.hello(10).body["verdict"] == "superseded");
    return;
  }
  CHECK_FALSE(waits(second, 2));
  CHECK(rig.get("/v1/sites/s1").body["former"].is_null());
  CHECK(rig.get("/v1/status").body["alarms"].empty());
}

TEST_CASE("of two copies of one box neither is taken for the other's end") {
  CoordinatorRig rig;
  FakeSite site(rig, rig.enrol(), "i-1");
  site.meet(9);
  FakeSite copy(rig, site.agent, "i-2");
  CHECK(waits(copy, 9));
  copy.instance = "i-3";
  CHECK_FALSE(copy.hello(10).body["former"].is_null());
  CHECK(site.stopped().status == 200);
  CHECK_FALSE(waits(copy, 9));
}

TEST_CASE("a coordinator that was restarted hears a hello first") {
  CoordinatorRig rig;
  FakeSite site(rig, rig.enrol());
  site.meet();
  site.sync();
  rig.restart();
  CHECK(site.pull().code() == "CONFLICT");
  CHECK(site.meet(1) == "go");
  CHECK(site.pull().status == 200);
}

TEST_CASE("rows that are not the site's own are refused whole, with an alarm that ends") {
  CoordinatorRig rig;
  FakeSite site(rig, rig.enrol());
  site.put(node_row("n1", "deployed"));
  site.meet();
  site.sync();
  RowChange foreign = node_row("n2", "deployed");
  foreign.row["site"] = "s2";
  site.put(node_row("n3", "deployed"));
  site.put(foreign);
  CHECK_THROWS(site.push_all());
  CHECK(rig.get("/v1/nodes/s1/n3").status == 404);
  CHECK(rig.get("/v1/nodes/s1/n2").status == 404);
  CHECK(rig.get("/v1/nodes/s2/n2").status == 404);
  Json alarm = rig.get("/v1/sites/s1").body["alarm"];
  CHECK(alarm["code"] == "FORBIDDEN");
  CHECK(rig.get("/v1/status").body["alarms"].size() == 1);
}

TEST_CASE("a site cannot send the coordinator's rows, nor say them for another") {
  CoordinatorRig rig;
  FakeSite site(rig, rig.enrol());
  site.put(node_row("n1", "deployed"));
  site.meet();
  site.sync();
  // A message as the stream would carry it, with a row that is not the site's.
  site.put(node_row("n2", "deployed"));
  auto stolen = [&](const std::string& row) {
    Json head = {{"after", 0}, {"head", 1}, {"incarnation", "1-0123456789abcdef"}, {"mark", ""}};
    std::string text = dump_json(head);
    text.pop_back();
    return site.push_text(text + ",\"rows\":[" + row + "]}").code();
  };
  const std::string clearance = dump_json(
      ClearanceRow{RunId("r-1"), NodeId("n1"), ClearanceVerdict::kClean, "", 1, "", "", ""}
          .change()
          .row);
  CHECK(stolen(clearance) != "");
  CHECK(rig.get("/v1/nodes/s1/n1").body["clearance"] == "none");
  Signer other = rig.of(IdentityKind::kSiteAgent, "s2");
  const Json cursor = sync::cursor_json({});
  auto pull = [&](const Json& body) {
    return rig.call("POST", "/v1/sync/pull", body, &other, "i-1").code();
  };
  CHECK(pull({{"cursor", cursor}}) == "NOT_FOUND");
  CHECK(pull({{"cursor", cursor}, {"site", "s1"}}) == "INVALID_INPUT");
}

TEST_CASE("a site that is heard is granted its term, anew each hour") {
  CoordinatorRig rig;
  FakeSite site(rig, rig.enrol());
  site.meet();
  site.pull_all();
  auto until = [&] {
    Json row = site.row("authority", AuthorityRow::kKey);
    return AuthorityRow::parse(row).value().until_ms;
  };
  CHECK(until() == kNow + limits::kAuthorityTermMs);
  rig.clock.advance(limits::kAuthorityRenewMs - 1);
  site.pull_all();
  CHECK(until() == kNow + limits::kAuthorityTermMs);
  rig.clock.advance(1);
  site.pull_all();
  CHECK(until() == kNow + limits::kAuthorityTermMs + limits::kAuthorityRenewMs);
}

TEST_CASE("events of a site are in the feed of all") {
  CoordinatorRig rig;
  FakeSite site(rig, rig.enrol());
  site.meet();
  site.sync();
  site.put(event_row("e-1", "node.adopted", NodeId("n1"), kNow, {{"lease", "l-1"}}));
  site.push_all();
  Json events = rig.get("/v1/events?after=0&site=s1&node=n1").body["events"];
  REQUIRE(events.size() == 1);
  CHECK(events[0]["name"] == "node.adopted");
  CHECK(events[0]["lease"] == "l-1");
  CHECK(events[0]["site"] == "s1");
  Json all = rig.get("/v1/events?after=0").body["events"];
  for (size_t i = 0; i < all.size(); ++i) CHECK(all[i]["n"] == i + 1);
}

TEST_CASE("a coordinator restored from a backup pulls its own rows back, and knows them again") {
  CoordinatorRig rig;
  FakeSite site(rig, rig.enrol());
  site.put(node_row("n1", "deployed"));
  site.meet();
  site.sync();
  const std::string file = rig.folder.file("coordinator.db");
  const std::string backup = rig.folder.file("backup.db");
  rig.restart();  // so that the log lies in the file
  rig.database.reset();
  std::filesystem::copy_file(file, backup);
  rig.restart();
  site.meet(1);
  make_pool(rig, "h100");
  const std::string work =
      json_text(rig.post("/v1/nodes/s1/n1/work", {{"kind", "release"}}).body, "work");
  site.pull_all();
  REQUIRE(site.row("work", work)["kind"] == "release");
  rig.database.reset();
  std::filesystem::remove(file + "-wal");
  std::filesystem::copy_file(backup, file, std::filesystem::copy_options::overwrite_existing);
  rig.restart();
  CHECK(rig.get("/v1/works/" + work).status == 404);
  // On the site's word alone nothing is taken back.
  CHECK(site.hello().code() == "FORBIDDEN");
  CHECK(rig.get("/v1/sites/s1").body["alarm"]["code"] == "FORBIDDEN");
  REQUIRE(rig.read(store::all_sites_restored).ok());
  CHECK(rig.post("/v1/nodes/s1/n1/work", {{"kind", "release"}}).code() == "UNAVAILABLE");
  site.meet(1);
  site.push_all();
  site.meet(1);
  site.sync();
  CHECK(rig.get("/v1/works/" + work).body["state"] == "pending");
  CHECK(rig.get("/v1/pools/h100").body["revision"] == 1);
  CHECK(rig.get("/v1/hardware-profiles/generic").body["revision"] == 1);
  CHECK(site.row("work", work)["kind"] == "release");
}

TEST_CASE("tables that silently differ are found and sent again") {
  CoordinatorRig rig;
  FakeSite site(rig, rig.enrol());
  site.put(node_row("n1", "deployed"));
  site.meet();
  site.sync();
  REQUIRE(rig.read([](Sql& sql) {
               return sql.run("UPDATE node SET row=replace(row, 'deployed', 'ready')");
             })
              .ok());
  CHECK(site.compare_hashes()["equal"] == false);
  site.meet(1);
  site.push_all();
  CHECK(site.compare_hashes()["equal"] == true);
  CHECK(rig.get("/v1/nodes/s1/n1").body["state"] == "deployed");
}
