#include "coordinator/clearance/clearance.h"

#include <catch2/catch.hpp>

#include "coordinator/limits.h"
#include "coordinator/store/sites.h"
#include "core/rows/coordinator_rows.h"
#include "core/rows/site_rows.h"
#include "tests/support/fake_site.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

constexpr int kRevision = 7;  // of the policy that the evidence was made under

// A coordinator with site s1, its site CA and pool h100 at revision 7, and the site that has met
// it.
struct World {
  CoordinatorRig rig;
  std::unique_ptr<FakeSite> site;

  explicit World(const Json& baseline = {{"bios", "2.4.1"}, {"bmc", "1.12.0"}}) {
    site = std::make_unique<FakeSite>(rig, rig.enrol());
    rig.read([&](Sql& sql) {
         return store::add_site_ca(sql, {rig.pki.site_ca_sha256, "s1", kNow + 2000 * kHour, kNow,
                                         rig.pki.site_ca.certificate_pem});
       })
        .value();
    rig.post("/v1/hardware-profiles",
             {{"profile", "generic"}, {"vetted", {{"by", "ann"}, {"why", "looked"}}}});
    const Json policy = {{"hardwareProfile", "generic"}, {"firmwareBaseline", baseline}};
    rig.post("/v1/pools", {{"pool", "h100"}, {"siteId", "s1"}, {"policy", policy}});
    for (int i = 1; i < kRevision; ++i) {
      rig.call("PUT", "/v1/pools/h100/policy", {{"policy", policy}}, &rig.admin);
    }
    REQUIRE(site->meet() == "go");
    site->put(node_row("n1", "deployed"));
    site->sync();
  }

  Bundle evidence(const std::function<void(RunParts&)>& change = {}, int64_t seq = 1,
                  const std::string& prev = "") {
    RunParts run = make_run(rig.pki);
    run.evidence.seq = seq;
    run.evidence.prev = prev;
    if (change) change(run);
    return sign_bundle(run);
  }

  void send(const Bundle& bundle) {
    for (const RowChange& row : result_rows(bundle)) site->put(row);
    site->sync();
  }

  Json entry() { return rig.get("/v1/evidence?site=s1").body["items"].at(0); }
  std::string reason() {
    std::string text = json_text(entry(), "reason");
    return text.substr(0, text.find(':'));
  }
  // What whoever has the root alone says of the file.
  std::string offline(const std::string& text) {
    Anchors anchors{rig.pki.root.certificate_pem, "example.net", {}};
    auto verified = verify_bundle(text, anchors, 0, ReceiptRule::kRequired);
    return verified.ok() ? "verified" : std::string(evidence_reason_name(verified.error().reason));
  }
};

void lying_disk(RunParts& run) {
  DiskWipeReport report = run.wipe_report();
  report.disks[0].markers.survived = 1;
  run.set_wipe_report(report);
}

}  // namespace

TEST_CASE("evidence that holds is cleared and receipted in the transaction of its arrival") {
  World world;
  Bundle bundle = world.evidence();
  world.send(bundle);
  Json entry = world.entry();
  CHECK(entry["verdict"] == "clean");
  CHECK(entry["digest"] == bundle.evidence.envelope.digest());
  CHECK(entry["seq"] == 1);
  CHECK(entry["policyRevision"] == kRevision);
  ClearanceRow clearance = ClearanceRow::parse(world.site->row("clearance", "r-1")).value();
  CHECK(clearance.verdict == ClearanceVerdict::kClean);
  CHECK(clearance.node.str() == "n1");
  CHECK(clearance.lease == "l-1");
  CHECK(world.site->row("receipt", "r-1")["receipt"].is_object());

  Answer file = world.rig.get("/v1/evidence/s1/r-1");
  REQUIRE(file.status == 200);
  CHECK(world.offline(file.text) == "verified");
  std::string bad = file.text;
  bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 1);
  CHECK(world.offline(bad) != "verified");

  CHECK(world.rig.get("/v1/nodes/s1/n1").body["placeable"] == false);  // still deployed
  world.site->put(node_row("n1", "ready", "r-1"));
  world.site->push_all();
  Json node = world.rig.get("/v1/nodes/s1/n1").body;
  CHECK(node["clearance"] == "clean");
  CHECK(node["placeable"] == true);
  world.site->put(node_row("n1", "ready", "r-0"));  // ready behind another run
  world.site->push_all();
  CHECK(world.rig.get("/v1/nodes/s1/n1").body["placeable"] == false);
}

TEST_CASE("refused evidence quarantines the machine as soon as it says ready, once") {
  World world;
  world.send(world.evidence(lying_disk));
  CHECK(world.reason() == "marker-survived");
  ClearanceRow clearance = ClearanceRow::parse(world.site->row("clearance", "r-1")).value();
  CHECK(clearance.verdict == ClearanceVerdict::kRefused);
  CHECK(world.site->row("receipt", "r-1").is_null());
  CHECK(world.rig.get("/v1/evidence/s1/r-1").status == 200);
  auto quarantines = [&] {
    int count = 0;
    const Json events = world.rig.get("/v1/events?after=0").body["events"];
    for (const Json& event : events) {
      if (event["name"] == "node.quarantine-asked") ++count;
    }
    return count;
  };
  CHECK(quarantines() == 0);  // still deployed: its teardown is under way
  world.site->put(node_row("n1", "ready", "r-1"));
  world.site->sync();
  CHECK(quarantines() == 1);
  CHECK(world.rig.get("/v1/nodes/s1/n1").body["clearance"] == "refused");
  CHECK(world.rig.get("/v1/nodes/s1/n1").body["placeable"] == false);
  world.site->put(node_row("n1", "ready", "r-1"));
  world.site->sync();
  CHECK(quarantines() == 1);
}

TEST_CASE("a break of a site's chain is refused, and the chain goes on behind it") {
  World world;
  world.send(world.evidence({}, 5, std::string(64, 'a')));
  CHECK(world.reason() == "broken-sequence");
  const std::string digest = json_text(world.entry(), "digest");
  auto second = [](RunParts& run) {
    run.evidence.run = "r-2";
    Signer ramdisk = run.pki.sign_in([] {
      Identity identity = ramdisk_identity();
      identity.run = "r-2";
      return identity;
    }());
    for (ResultParts* part : {&run.inventory, &run.wipe, &run.diagnosis}) {
      part->head.context.run = "r-2";
      part->signer = ramdisk;
      if (part->kind != ResultKind::kDiskWipe) {
        part->subjects = {part->head.context.node_subject()};
      }
    }
  };
  world.send(world.evidence(second, 6, digest));
  CHECK(world.entry()["run"] == "r-2");
  CHECK(world.entry()["verdict"] == "clean");
}

TEST_CASE("evidence under a policy that the coordinator did not give is refused") {
  World weaker({{"bios", "2.4.1"}, {"bmc", "1.13.0"}});
  weaker.send(weaker.evidence());
  CHECK(weaker.reason() == "wrong-policy");
  World unknown;
  unknown.send(unknown.evidence([](RunParts& run) { run.evidence.policy.revision = 8; }));
  CHECK(unknown.reason() == "wrong-policy");
  World elsewhere;
  elsewhere.send(elsewhere.evidence([](RunParts& run) { run.evidence.policy.pool = "a100"; }));
  CHECK(elsewhere.reason() == "wrong-policy");
}

TEST_CASE("a site CA that is not recorded for the site clears nothing") {
  World world;
  Pki other = make_pki();
  RunParts run = make_run(world.rig.pki);
  run.evidence.seq = 1;
  run.evidence.prev = "";
  CaKey rogue =
      issue_site_ca(world.rig.pki.issuing, "s1", "example.net", around_now(kHour, kHour)).value();
  Signer ramdisk = world.rig.pki.sign_in(ramdisk_identity(), rogue, around_now(kHour, kHour));
  for (ResultParts* part : {&run.inventory, &run.wipe, &run.diagnosis}) part->signer = ramdisk;
  world.send(sign_bundle(run));
  CHECK(world.reason() == "unrecorded-site-ca");
}

TEST_CASE("evidence of another site, run or node in a site's rows is refused") {
  World world;
  Bundle bundle = world.evidence();
  std::vector<RowChange> rows = result_rows(bundle);
  world.site->put(node_row("n2", "deployed"));
  for (RowChange row : rows) {
    row.row["node"] = "n2";
    world.site->put(row);
  }
  world.site->sync();
  CHECK(world.reason() == "wrong-node");
}

TEST_CASE("a result that never came is missed") {
  World world;
  std::vector<RowChange> rows = result_rows(world.evidence());
  rows.erase(rows.begin());
  for (const RowChange& row : rows) world.site->put(row);
  world.site->sync();
  CHECK(world.reason() == "missing-result");
}

TEST_CASE("a site that was cut off is cleared when it comes back, within its term") {
  World world;
  world.rig.clock.advance(5LL * 24 * kHour);
  world.site->agent = world.rig.pki.sign_in(site_agent_identity(), world.rig.pki.issuing,
                                            around_now(kHour, 1000 * kHour));
  world.rig.admin = world.rig.pki.sign_in(
      [] {
        Identity identity;
        identity.kind = IdentityKind::kOperator;
        identity.domain = "example.net";
        identity.name = "admin";
        return identity;
      }(),
      world.rig.pki.issuing, around_now(kHour, 1000 * kHour));
  Signer leaf = world.rig.pki.sign_in(coordinator_identity(), world.rig.pki.issuing,
                                      around_now(kHour, 1000 * kHour));
  world.rig.config.leaf = {leaf.chain_pem[0] + leaf.chain_pem[1], leaf.key.private_key_pem};
  Bundle bundle = world.evidence();
  SECTION("five days later") {
    world.send(bundle);
    CHECK(world.entry()["verdict"] == "clean");
    CHECK(world.offline(world.rig.get("/v1/evidence/s1/r-1").text) == "verified");
  }
  SECTION("longer than a site may act unheard") {
    world.rig.clock.advance(limits::kAuthorityTermMs);
    world.send(bundle);
    CHECK(world.reason() == "expired");
  }
}

TEST_CASE("evidence that comes by snapshot is judged when all of it is there, by its numbers") {
  World world;
  // Runs whose names are in the other order than their numbers.
  auto named = [](const std::string& name) {
    return [name](RunParts& run) {
      Identity identity = ramdisk_identity();
      identity.run = name;
      Signer ramdisk = run.pki.sign_in(identity);
      run.evidence.run = name;
      for (ResultParts* part : {&run.inventory, &run.wipe, &run.diagnosis}) {
        part->head.context.run = name;
        part->signer = ramdisk;
        if (part->kind != ResultKind::kDiskWipe) {
          part->subjects = {part->head.context.node_subject()};
        }
      }
    };
  };
  Bundle first = world.evidence(named("r-z"), 1);
  Bundle second = world.evidence(named("r-a"), 2, first.evidence.envelope.digest());
  for (const Bundle* bundle : {&first, &second}) {
    for (const RowChange& row : result_rows(*bundle)) world.site->put(row);
  }
  REQUIRE(world.rig
              .read([](Sql& sql) {  // as if nothing of this site had come yet
                return sql.run("DELETE FROM peer_cursor");
              })
              .ok());
  world.site->meet(1);
  world.site->sync();
  Json items = world.rig.get("/v1/evidence?site=s1").body["items"];
  REQUIRE(items.size() == 2);
  CHECK(items[0]["run"] == "r-a");
  CHECK(items[0]["verdict"] == "clean");
  CHECK(items[1]["verdict"] == "clean");
}
