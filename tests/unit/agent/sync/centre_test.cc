#include "agent/sync/centre.h"

#include <filesystem>

#include "tests/unit/agent/sync/synced_site.h"

using namespace leasehold;
using namespace leasehold::test;
namespace fs = std::filesystem;

namespace {

constexpr int64_t kTermMs = 14LL * 24 * kHourMs;

struct World {
  LiveAuthority authority;
  SiteFolder site_folder;
  TempFolder centre_folder{TempFolder::Where::kMemory};
  std::string centre_db = centre_folder.file("centre.db");
  std::unique_ptr<RowCentre> centre;
  std::string url, address;
  uint16_t port = 0;

  World() {
    start_centre();
    centre->grant(kTermMs);
  }
  void start_centre() {
    centre = std::make_unique<RowCentre>(authority, centre_db, "s1", port);
    url = centre->http.url();
    address = centre->http.address();
    port = centre->http.port_number();
  }
  SyncedSite::Wish wish() const {
    SyncedSite::Wish made;
    made.url = url;
    made.address = address;
    return made;
  }
  std::unique_ptr<SyncedSite> agent() { return agent(site_folder); }
  std::unique_ptr<SyncedSite> agent(const SiteFolder& folder) {
    return std::make_unique<SyncedSite>(folder, authority, wish());
  }
  std::unique_ptr<SyncedSite> acting_agent() {
    auto site = agent();
    REQUIRE(eventually([&] { return site->standing() == Standing::kActing; }));
    return site;
  }
  bool centre_has(const std::string& table, const std::string& key) {
    return eventually([&] { return !centre->row(table, key).is_null(); });
  }
};

RowChange event(const std::string& id) {
  return event_row(id, "test", NodeId("n1"), 0, Json::object());
}

// What an agent had at one moment, to be put back later.
void copy_site(const SiteFolder& from, SiteFolder& to, bool with_counter) {
  to.key = from.key;
  for (const char* tail : {"", "-wal"}) {
    fs::remove(to.database + tail);
    if (fs::exists(from.database + tail)) fs::copy_file(from.database + tail, to.database + tail);
  }
  std::string counter = ".starts";
  fs::remove(to.vault_key + counter);
  if (with_counter) fs::copy_file(from.vault_key + counter, to.vault_key + counter);
}

}  // namespace

TEST_CASE("centre: rows flow both ways, and a work row starts its run") {
  World world;
  auto site = world.acting_agent();
  site->put_node("n1", NodeState::kDeployed);
  CHECK(world.centre_has("node", "n1"));
  world.centre->work("w-1", "n1", "release");
  REQUIRE(world.centre_has("work_result", "w-1"));
  Json result = world.centre->row("work_result", "w-1");
  CHECK(result["accepted"] == true);
  CHECK(eventually([&] { return site->touched > 0; }));
  CHECK(world.centre_has("run", result["run"]));
  CHECK(eventually([&] { return world.centre->row("node", "n1")["state"] == "releasing"; }));
}

TEST_CASE("centre: a work row that cannot be read or done is answered, and stops no other") {
  World world;
  auto site = world.acting_agent();
  site->put_node("n1", NodeState::kDeployed);
  world.centre->tell(RowChange{
      "work", "w-bad",
      Json{{"table", "work"}, {"schema", 1}, {"work", "w-bad"}, {"node", "n1"}, {"kind", 7}}});
  world.centre->work("w-none", "n9", "release");
  world.centre->work("w-odd", "n1", "dance");
  world.centre->work("w-good", "n1", "maintenance");
  REQUIRE(world.centre_has("work_result", "w-good"));
  CHECK(world.centre->row("work_result", "w-bad")["code"] == "INVALID_INPUT");
  CHECK(world.centre->row("work_result", "w-none")["code"] == "NOT_FOUND");
  CHECK(world.centre->row("work_result", "w-odd")["code"] == "UNSUPPORTED");
  CHECK(world.centre->row("work_result", "w-good")["accepted"] == true);
}

TEST_CASE("centre: rows made while the coordinator is away arrive when it is back") {
  World world;
  auto site = world.acting_agent();
  site->put(event("e-1"));
  REQUIRE(world.centre_has("event", "e-1"));
  world.centre.reset();
  for (int i = 2; i < 50; ++i) site->put(event("e-" + std::to_string(i)));
  CHECK(eventually([&] { return site->status()["connected"] == false; }));
  CHECK(site->standing() == Standing::kActing);
  world.start_centre();
  CHECK(world.centre_has("event", "e-49"));
  CHECK(eventually([&] { return site->status()["connected"] == true; }));
}

TEST_CASE("centre: a good start acts without the coordinator, but never the first one") {
  World world;
  world.centre.reset();
  {
    auto site = world.agent();
    CHECK(eventually(
        [&] { return site->status()["connected"] == false && site->status()["error"] != ""; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    CHECK(site->acted == 0);
    CHECK(site->standing() == Standing::kStarting);
    world.start_centre();
    CHECK(eventually([&] { return site->acted == 1; }));
  }
  world.centre.reset();
  auto again = world.agent();
  CHECK(eventually([&] { return again->acted == 1; }));
  CHECK(again->standing() == Standing::kActing);
}

TEST_CASE("centre: a restored database touches nothing before its rows are back") {
  World world;
  SiteFolder backup;
  {
    auto site = world.acting_agent();
    site->put_node("n1", NodeState::kDeployed);
    site->put_node("n2", NodeState::kDeployed);
    REQUIRE(world.centre_has("node", "n2"));
    world.centre->work("w-1", "n1", "release");
    REQUIRE(eventually([&] { return site->touched > 0; }));
    REQUIRE(world.centre_has("work_result", "w-1"));
  }
  copy_site(world.site_folder, backup, true);
  {
    auto site = world.acting_agent();
    site->put(event("e-after-the-backup"));
    REQUIRE(world.centre_has("event", "e-after-the-backup"));
  }
  std::string incarnation =
      json_text(world.centre->http.asked("/v1/sync/hello").back()["stream"], "incarnation");
  SiteFolder box;
  bool without_counter = GENERATE(true, false);
  copy_site(backup, without_counter ? box : world.site_folder, false);
  if (!without_counter) {
    // The same box: its counter file is as new as its last start.
    StartCounter::open(world.site_folder.vault_key).value();
  }
  world.centre.reset();
  auto site = world.agent(without_counter ? box : world.site_folder);
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  CHECK(site->acted == 0);
  CHECK(site->touched == 0);
  CHECK(site->standing() == Standing::kRestoring);
  CHECK(site->row("run", site->row("work_result", "w-1")["run"])["state"] == "open");
  world.start_centre();
  REQUIRE(eventually([&] { return site->acted == 1; }));
  CHECK(site->touched == 0);
  CHECK_FALSE(site->row("event", "e-after-the-backup").is_null());
  Json run = site->row("run", site->row("work_result", "w-1")["run"]);
  CHECK(run["state"] == "failed");
  CHECK(run["code"] == "RESTORED");
  NodeRow torn = site->node("n1");
  CHECK(torn.state == NodeState::kFailed);
  CHECK(torn.failed_from == "releasing");
  CHECK(torn.maintenance);
  CHECK(torn.power_off_owed);
  CHECK(torn.generation == 4 + limits::kGenerationJump);
  CHECK(torn.trust == Trust::kTenantControlled);
  NodeRow leased = site->node("n2");
  CHECK(leased.state == NodeState::kDeployed);
  CHECK_FALSE(leased.power_off_owed);
  CHECK(leased.generation == 4 + limits::kGenerationJump);
  CHECK(eventually([&] { return world.centre->row("run", run["run"])["state"] == "failed"; }));
  CHECK(json_text(world.centre->http.asked("/v1/sync/hello").back()["stream"], "incarnation") !=
        incarnation);
}

TEST_CASE("centre: two agents of one site: the older one freezes, and stays frozen") {
  World world;
  auto first = world.acting_agent();
  first->put_node("n1", NodeState::kDeployed);
  REQUIRE(world.centre_has("node", "n1"));
  SiteFolder clone;
  copy_site(world.site_folder, clone, true);
  auto second = world.agent(clone);
  REQUIRE(eventually([&] { return first->frozen == 1; }));
  CHECK(first->standing() == Standing::kSuperseded);
  CHECK(first->touched == 0);
  REQUIRE(eventually([&] { return second->acted == 1; }));
  first.reset();
  size_t hellos = world.centre->hellos();
  {
    auto again = world.agent();
    CHECK(eventually([&] { return again->frozen == 1; }));
    CHECK(again->standing() == Standing::kSuperseded);
    CHECK(again->acted == 0);
    CHECK(world.centre->hellos() == hellos);
    CHECK(second->standing() == Standing::kActing);
  }
  // Its box has joined anew: now it may take the site over.
  world.site_folder.key = generate_key();
  auto rejoined = world.agent();
  CHECK(eventually([&] { return rejoined->acted == 1; }));
  CHECK(eventually([&] { return second->frozen == 1; }));
}

TEST_CASE("centre: a copy waits before it acts, so that the former agent has heard of it") {
  World world;
  { auto site = world.acting_agent(); }
  SiteFolder clone;
  copy_site(world.site_folder, clone, true);
  SyncedSite::Wish wish = world.wish();
  wish.takeover_wait_ms = 1'500;
  auto begin = std::chrono::steady_clock::now();
  SyncedSite second(clone, world.authority, wish);
  REQUIRE(eventually([&] { return second.acted == 1; }));
  CHECK(elapsed_ms(begin) >= 1'500);
}

TEST_CASE("centre: an agent waits for another that may act still, and says when it has stopped") {
  World world;
  auto first = world.acting_agent();
  world.centre->set_former(
      {{"heardAt", "2026-01-01T00:00:00.000Z"}, {"until", "2026-01-16T00:00:00.000Z"}});
  SiteFolder clone;
  copy_site(world.site_folder, clone, true);
  SyncedSite::Wish wish = world.wish();
  wish.takeover_wait_ms = 1;
  SyncedSite second(clone, world.authority, wish);
  REQUIRE(eventually([&] { return first->frozen == 1; }));
  CHECK(eventually([&] { return world.centre->http.asked("/v1/sync/stopped").size() > 0; }));
  REQUIRE(eventually([&] {
    return json_text(second.status(), "why").find("leasehold site takeover s1") !=
           std::string::npos;
  }));
  const size_t hellos = world.centre->hellos();
  REQUIRE(eventually([&] { return world.centre->hellos() > hellos; }));
  CHECK(second.acted == 0);
  CHECK(second.standing() == Standing::kRestoring);
  world.centre->set_former(nullptr);
  CHECK(eventually([&] { return second.acted == 1; }));
}

TEST_CASE("centre: with its term over no run starts and none is resumed") {
  World world;
  {
    auto site = world.acting_agent();
    site->put_node("n1", NodeState::kDeployed);
    site->put_node("n2", NodeState::kDeployed);
    world.centre->work("w-1", "n1", "release");
    REQUIRE(eventually([&] { return site->touched > 0; }));
    world.centre->grant(-1'000);
    REQUIRE(eventually([&] {
      return json_text(site->row("authority", AuthorityRow::kKey), "until") ==
             json_text(world.centre->row("authority", AuthorityRow::kKey), "until");
    }));
    world.centre->work("w-2", "n2", "release");
    REQUIRE(world.centre_has("work_result", "w-2"));
    CHECK(world.centre->row("work_result", "w-2")["code"] == "AUTHORITY_OVER");
    CHECK(site->node("n2").state == NodeState::kDeployed);
    int before = site->touched;
    CHECK(eventually([&] { return site->touched > before; }));  // what is open goes on
  }
  auto site = world.agent();
  REQUIRE(eventually([&] { return site->standing() == Standing::kWaiting; }));
  CHECK(site->touched == 0);
  world.centre->grant(kTermMs);
  CHECK(eventually([&] { return site->touched > 0; }));
  CHECK(site->acted == 1);
}

TEST_CASE("centre: nothing is said to a server that is not this coordinator") {
  World world;
  std::unique_ptr<FakeCentre> other;
  LiveAuthority foreign;
  SECTION("of another kind") {
    other = std::make_unique<FakeCentre>(world.authority, IdentityKind::kSiteAgent);
  }
  SECTION("for another host") {
    other = std::make_unique<FakeCentre>(world.authority, IdentityKind::kCoordinator,
                                         "other.example.net");
  }
  SECTION("under another root") { other = std::make_unique<FakeCentre>(foreign); }
  world.url = other->url();
  world.address = other->address();
  auto site = world.agent();
  CHECK(eventually([&] { return site->status()["error"] != ""; }));
  CHECK_THAT(json_text(site->status(), "error"),
             Catch::Contains("TLS was refused") || Catch::Contains("host name"));
  CHECK(other->asked("/v1/sync/hello").empty());
  CHECK(site->acted == 0);
}

TEST_CASE("centre: rows of another site are refused whole") {
  World world;
  auto site = world.acting_agent();
  world.centre.reset();
  world.centre = std::make_unique<RowCentre>(world.authority, world.centre_folder.file("s2.db"),
                                             "s2", world.port);
  world.centre->tell(RowChange{
      "pool_policy", "p-of-s2",
      Json{{"table", "pool_policy"}, {"schema", 1}, {"pool", "p-of-s2"}, {"site", "s2"}}});
  CHECK(eventually([&] { return site->status()["connected"] == false; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  CHECK(site->row("pool_policy", "p-of-s2").is_null());
}

TEST_CASE("centre: a copy that differs in silence is found and fetched again") {
  World world;
  auto site = world.acting_agent();
  world.centre->tell(
      RowChange{"node_admin", "n1",
                Json{{"table", "node_admin"}, {"schema", 1}, {"node", "n1"}, {"cordon", true}}});
  REQUIRE(eventually([&] { return !site->row("node_admin", "n1").is_null(); }));
  REQUIRE(site->in([](Sql& sql) {
                return sql.run("UPDATE node_admin SET row=replace(row, 'true', 'false')");
              })
              .ok());
  world.centre.reset();
  REQUIRE(eventually([&] { return site->status()["connected"] == false; }));
  world.start_centre();
  CHECK(eventually([&] { return site->row("node_admin", "n1")["cordon"] == true; }));
}

TEST_CASE("centre: an agent stops at once, whatever its threads wait for") {
  World world;
  auto site = world.acting_agent();
  auto begin = std::chrono::steady_clock::now();
  site.reset();
  CHECK(elapsed_ms(begin) < 3'000);
}
