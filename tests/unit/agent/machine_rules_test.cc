// The rules of the door to machines: each thing that a result or a join may not be is refused with
// its own reason, while the good one passes in the same test.
#include "agent/steps/fence.h"
#include "tests/unit/agent/door_site.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

// Of a refusal at the door, "" if there is none: the evidence's reason, or what its message begins
// with.
template <typename T>
std::string reason(const Result<T>& outcome) {
  if (outcome.ok()) return "";
  const Error& error = outcome.error();
  if (!error.field.empty()) return error.field;
  if (error.code != Code::kForbidden && error.code != Code::kTenantControlled) {
    return std::string(code_name(error.code));
  }
  return error.message.substr(0, error.message.find(':'));
}

void change_row(DoorSite& site, const std::string& table, const std::string& key, const char* field,
                const Json& value) {
  REQUIRE(site.in([&](Sql& sql) -> Status {
                Json row = TRY(Store::get(sql, table, key));
                row[field] = value;
                return row_store::put(sql, RowChange{table, key, row});
              })
              .ok());
}

}  // namespace

TEST_CASE("a join needs this boot's token over this CSR, once") {
  DoorSite site;
  std::string other = make_csr(generate_key().private_key_pem).value();
  Result<JoinOutcome> guessed = site.join(site.join_body(site.csr, "another token"));
  CHECK(reason(guessed) == "wrong-token");
  CHECK(guessed.error().code == Code::kForbidden);
  Json swapped = site.join_body(site.csr, site.token);
  swapped["csr"] = other;
  CHECK(reason(site.join(swapped)) == "wrong-token");
  Json elsewhere = site.join_body(site.csr, site.token);
  elsewhere["run"] = "r-other";
  CHECK(reason(site.join(elsewhere)) == "boot-of-another-run");
  Json unknown = site.join_body(site.csr, site.token);
  unknown["boot"] = "b-none";
  CHECK(reason(site.join(unknown)) == "no-such-boot");
  CHECK(site.row("ramdisk", "b-1")["state"] == "armed");

  Result<JoinOutcome> good = site.join(site.join_body(site.csr, site.token));
  REQUIRE(good.ok());
  CHECK(site.row("ramdisk", "b-1")["state"] == "joined");
  // The answer was lost: the same CSR is answered alike, and no second certificate is made.
  Result<JoinOutcome> again = site.join(site.join_body(site.csr, site.token));
  REQUIRE(again.ok());
  CHECK(again.value().answer == good.value().answer);
  // A second machine with the same token: the boot is not to be trusted any more.
  CHECK(reason(site.join(site.join_body(other, site.token))) == "boot-claimed-twice");
  CHECK(site.row("ramdisk", "b-1")["state"] == "claimed-twice");
  CHECK(reason(site.join(site.join_body(site.csr, site.token))) == "boot-claimed-twice");
}

TEST_CASE("a result of this run's ramdisk is recorded once, and the same again is answered alike") {
  DoorSite site;
  site.join_well();
  Json body = site.body_of(site.wipe_parts());
  Result<ResultOutcome> first = site.post(body, site.chain_pem);
  INFO((first.ok() ? "" : first.error().text()));
  REQUIRE(first.ok());
  CHECK(first.value().verdict == "PASS");
  CHECK(site.post(body, site.chain_pem).ok());
  // ECDSA signs anew each time: another envelope for a command that has its result. So is one that
  // would be refused for itself; neither takes back that the command is done.
  CHECK(reason(site.post(site.body_of(site.wipe_parts()), site.chain_pem)) == "replayed");
  ResultParts foreign = site.wipe_parts();
  foreign.head.context.node = "n2";
  CHECK(reason(site.post(site.body_of(foreign), site.chain_pem)) == "replayed");
  CHECK(json_text(site.row("command", site.command.command), "refused").empty());
}

TEST_CASE("a result for anything but this command of this machine is refused with its reason") {
  struct Case {
    const char* reason;
    std::function<void(ResultParts&)> spoil;
  };
  const std::vector<Case> cases = {
      {"wrong-node", [](ResultParts& part) { part.head.context.node = "n2"; }},
      {"wrong-run", [](ResultParts& part) { part.head.context.run = "r-2"; }},
      {"wrong-site", [](ResultParts& part) { part.head.context.site = "s2"; }},
      {"wrong-lease", [](ResultParts& part) { part.head.context.lease = "l-2"; }},
      {"wrong-generation", [](ResultParts& part) { part.head.context.generation = 3; }},
      {"wrong-pass", [](ResultParts& part) { part.head.context.pass = 2; }},
      {"wrong-boot-nonce",
       [](ResultParts& part) { part.head.context.boot_nonce = base64_encode("another boot"); }},
      {"wrong-image", [](ResultParts& part) { part.head.context.image = sha256_hex("other"); }},
      {"wrong-nonce", [](ResultParts& part) { part.head.nonce = base64_encode("replayed one"); }},
      {"wrong-manifest",
       [](ResultParts& part) {
         DiskWipeReport report = DiskWipeReport::from_json(part.body).value();
         report.expected.disks.pop_back();
         part.body = report.to_json();
       }},
      {"subject-mismatch", [](ResultParts& part) { part.subjects.pop_back(); }},
      {"wrong-predicate", [](ResultParts& part) { part.kind = ResultKind::kInventory; }},
  };
  DoorSite site;
  site.join_well();
  for (const Case& one : cases) {
    ResultParts part = site.wipe_parts();
    one.spoil(part);
    CHECK(reason(site.post(site.body_of(part), site.chain_pem)) == one.reason);
    CHECK(site.row("result", site.command.command).is_null());
    // The command is given up with it, and its step fails: not even the good one is taken then.
    CHECK(reason(site.post(site.body_of(site.wipe_parts()), site.chain_pem)) == "given-up");
    change_row(site, "command", site.command.command, "refused", "");
  }
  CHECK(reason(site.post(site.body_of(site.wipe_parts()), site.chain_pem)).empty());
}

TEST_CASE("a result that shows a missing disk fails its step and never counts as a pass") {
  DoorSite site;
  site.join_well();
  ResultParts part = site.wipe_parts();
  DiskWipeReport report = DiskWipeReport::from_json(part.body).value();
  report.observed.pop_back();
  report.disks.pop_back();
  part.body = report.to_json();
  Result<ResultOutcome> outcome = site.post(site.body_of(part), site.chain_pem);
  REQUIRE(outcome.ok());
  CHECK(outcome.value().verdict == "FAIL");
  CHECK(json_text(site.row("result", site.command.command), "reason").rfind("missing-disk", 0) ==
        0);
}

TEST_CASE("law tenant-never-attests: a node-tenant certificate for this very node is refused") {
  DoorSite site;
  site.join_well();
  Signer tenant = site.pki().sign_in(node_identity(IdentityKind::kNodeTenant));
  ResultParts part = site.wipe_parts();
  part.signer = tenant;
  // Presented by the tenant, and smuggled in through the ramdisk's own connection.
  Result<ResultOutcome> presented = site.post(site.body_of(part), tenant.chain_pem);
  CHECK(presented.error().code == Code::kTenantControlled);
  CHECK(reason(presented) == "lessee");
  CHECK(reason(site.post(site.body_of(part), site.chain_pem)) == "tenant-may-not-attest");
  CHECK(site.row("result", site.command.command).is_null());
  change_row(site, "command", site.command.command, "refused", "");
  CHECK(reason(site.post(site.body_of(site.wipe_parts()), site.chain_pem)).empty());
}

TEST_CASE("law trust-first: from the fence on, a lessee's certificate is nobody's") {
  DoorSite site;
  site.join_well();
  Signer tenant = site.pki().sign_in(node_identity(IdentityKind::kNodeTenant));
  ResultParts part = site.wipe_parts();
  part.signer = tenant;
  CHECK(reason(site.post(site.body_of(part), tenant.chain_pem)) == "lessee");

  auto rows = std::make_shared<Snapshot>();
  RunInfo run = site.world.run();
  REQUIRE(site.in([&](Sql& sql) { return site.world.load(sql, run, *rows); }).ok());
  StepContext context;
  context.run = run;
  context.rows = rows;
  context.clock = &site.time;
  context.memory = std::make_shared<Json>(Json::object());
  StepOutcome fenced = fence_tenant(site.world.tools(), context);
  const Done* done = std::get_if<Done>(&fenced);
  REQUIRE(done != nullptr);
  CHECK(done->notices.at(0)["type"] == "close-node");
  REQUIRE(site.in([&](Sql& sql) -> Status {
                for (const RowChange& change : done->rows) TRY(Store::put(sql, change));
                return {};
              })
              .ok());
  CHECK(site.row("node", "n1")["fencedRun"] == "r-law");
  for (Verb verb : {Verb::kSession, Verb::kAttest, Verb::kRamdiskCommand}) {
    Result<RamdiskCaller> caller = Error(Code::kInternal, "not asked");
    REQUIRE(site.in([&](Sql& sql) -> Status {
                  caller =
                      judge_ramdisk(sql, site.world.tools(), DoorSite::der(tenant.chain_pem), verb);
                  return {};
                })
                .ok());
    REQUIRE_FALSE(caller.ok());
    CHECK(caller.error().code == Code::kTenantControlled);
    CHECK(reason(caller) == "lessee-fenced");
  }
  // What was joined before the fence is closed with it.
  CHECK(reason(site.post(site.body_of(site.wipe_parts()), site.chain_pem)) == "ramdisk-closed");
}

TEST_CASE("only the open ramdisk of the run is heard") {
  DoorSite site;
  site.join_well();
  Identity of_run = ramdisk_identity();
  of_run.run = "r-law";
  // A certificate of the right name that was never issued for this boot (a stolen site CA apart).
  Signer other = site.pki().sign_in(of_run);
  auto as = [&](const std::vector<std::string>& chain) {
    return reason(site.post(site.body_of(site.wipe_parts()), chain));
  };
  CHECK(as(other.chain_pem) == "never-issued");
  Signer foreign_run = site.pki().sign_in(ramdisk_identity());
  CHECK(as(foreign_run.chain_pem) == "run-not-open");
  Identity of_node = of_run;
  of_node.node = "n2";
  CHECK(as(site.pki().sign_in(of_node).chain_pem) == "wrong-node");
  Signer platform = site.pki().sign_in(node_identity(IdentityKind::kNode));
  CHECK(as(platform.chain_pem) == "not-a-ramdisk");
  CHECK(as({}) == "UNAUTHENTICATED");
  Json body = site.body_of(site.wipe_parts());
  body["command"] = "r-law-p1-nothing";
  CHECK(reason(site.post(body, site.chain_pem)) == "not-its-command");

  // Signed with another key of the run, in the connection of the right one.
  ResultParts smuggled = site.wipe_parts();
  smuggled.signer = foreign_run;
  CHECK(reason(site.post(site.body_of(smuggled), site.chain_pem)) == "wrong-run");

  change_row(site, "ramdisk", "b-1", "state", "closed");
  CHECK(as(site.chain_pem) == "ramdisk-closed");
  CHECK(reason(site.join(site.join_body(site.csr, site.token))) == "boot-closed");
}

TEST_CASE("a raised generation closes the door to the run's ramdisk") {
  DoorSite site;
  site.join_well();
  change_row(site, "node", "n1", "generation", 5);
  CHECK(reason(site.post(site.body_of(site.wipe_parts()), site.chain_pem)) == "generation-raised");
}

TEST_CASE("a refusal that wrote a row names the run that must look at it") {
  DoorSite site;
  site.join_well();
  ResultParts part = site.wipe_parts();
  part.head.nonce = base64_encode("\x1b[2J another nonce");
  RunId concerned;
  auto post = [&](const Json& body) {
    REQUIRE(site.in([&](Sql& sql) -> Status {
                  concerned = RunId();
                  (void)decide_result(sql, site.world.tools(), DoorSite::der(site.chain_pem), body,
                                      &concerned)
                      .ok();
                  return {};
                })
                .ok());
  };
  post(site.body_of(part));
  CHECK(concerned.str() == "r-law");
  CHECK_FALSE(json_text(site.row("command", site.command.command), "refused").empty());
  post(site.body_of(part));  // given up before: nothing new was written
  CHECK(concerned.empty());

  Json second = site.join_body(make_csr(generate_key().private_key_pem).value(), site.token);
  REQUIRE(site.in([&](Sql& sql) -> Status {
                (void)decide_join(sql, site.world.tools(), second, &concerned).ok();
                return {};
              })
              .ok());
  CHECK(concerned.str() == "r-law");
}

TEST_CASE("why a command was refused is kept short and harmless to a terminal") {
  DoorSite site;
  site.join_well();
  REQUIRE(site.in([&](Sql& sql) -> Status {
                RamdiskCaller caller = TRY(judge_ramdisk(
                    sql, site.world.tools(), DoorSite::der(site.chain_pem), Verb::kAttest));
                return refuse_command(sql, caller, site.command.command,
                                      "\x1b]0;owned\x07" + std::string(1000, 'x'));
              })
              .ok());
  std::string kept = json_text(site.row("command", site.command.command), "refused");
  CHECK(kept.rfind("?]0;owned?x", 0) == 0);
  CHECK(kept.size() == 400);
}

namespace {

// The node is ready behind this boot's run, which is over.
void make_ready(DoorSite& site) {
  change_row(site, "ramdisk", "b-1", "state", "closed");
  change_row(site, "run", "r-law", "state", "succeeded");
  for (const auto& [field, value] :
       std::vector<std::pair<const char*, Json>>{{"state", "ready"},
                                                 {"trust", "platform"},
                                                 {"tenantRoot", false},
                                                 {"lease", ""},
                                                 {"cleanRun", "r-law"},
                                                 {"fencedRun", ""},
                                                 {"maintenance", false},
                                                 {"powerOffOwed", false}}) {
    change_row(site, "node", "n1", field, value);
  }
}

void check_quarantined(DoorSite& site) {
  Json node = site.row("node", "n1");
  CHECK(node["state"] == "failed");
  CHECK(node["failedFrom"] == "ready");
  CHECK(node["maintenance"] == true);
  CHECK(node["powerOffOwed"] == true);
  CHECK(json_text(json_member(node, "failure"), "code") == "BOOT_CLAIMED_TWICE");
  CHECK_FALSE(json_text(json_member(node, "failure"), "message").empty());
  CHECK(site.row("ramdisk", "b-1")["state"] == "claimed-twice");
  bool told = false;
  REQUIRE(site.in([&](Sql& sql) -> Status {
                for (const Json& event : TRY(Store::of_node(sql, "event", NodeId("n1")))) {
                  told = told || json_text(event, "event") == "node.quarantined" ||
                         json_text(event, "name") == "node.quarantined";
                }
                return {};
              })
              .ok());
  CHECK(told);
}

Status second_claim(DoorSite& site) {
  return site.in([&](Sql& sql) -> Status {
    (void)TRY(decide_second_claim(sql, site.world.tools(), "b-1"));
    return {};
  });
}

}  // namespace

TEST_CASE("a second claim of a boot that is over quarantines the machine that is ready behind it") {
  DoorSite site;
  site.join_well();
  make_ready(site);
  REQUIRE(second_claim(site).ok());
  check_quarantined(site);
  REQUIRE(second_claim(site).ok());  // the third claim finds nothing left to do
}

TEST_CASE("another CSR with the token of a boot that is over quarantines the ready machine") {
  DoorSite site;
  site.join_well();
  make_ready(site);
  std::string other = make_csr(generate_key().private_key_pem).value();
  // Its own CSR again (a late retry), and one that anybody could send, change nothing.
  CHECK(reason(site.join(site.join_body(site.csr, site.token))) == "boot-closed");
  CHECK(reason(site.join(site.join_body(other, "another token"))) == "boot-closed");
  CHECK(site.row("node", "n1")["state"] == "ready");
  CHECK(reason(site.join(site.join_body(other, site.token))) == "boot-claimed-twice");
  check_quarantined(site);
}

TEST_CASE("a second claim of another run's boot leaves a ready machine alone") {
  DoorSite site;
  site.join_well();
  make_ready(site);
  change_row(site, "node", "n1", "cleanRun", "r-later");
  REQUIRE(second_claim(site).ok());
  CHECK(site.row("node", "n1")["state"] == "ready");
}

TEST_CASE("a boot that was claimed twice is not closed over, and nothing becomes ready behind it") {
  DoorSite site;
  site.join_well();
  Json as_seen = site.row("ramdisk", "b-1");
  REQUIRE(second_claim(site).ok());
  as_seen["state"] = "closed";  // what a step writes that had looked before
  REQUIRE(site.in([&](Sql& sql) {
                return Store::put_of_step(sql, RowChange{"ramdisk", "b-1", as_seen});
              })
              .ok());
  CHECK(site.row("ramdisk", "b-1")["state"] == "claimed-twice");
  make_ready(site);
  change_row(site, "ramdisk", "b-1", "state", "claimed-twice");
  change_row(site, "node", "n1", "state", "releasing");
  Json ready = site.row("node", "n1");
  ready["state"] = "ready";
  Status put = site.in([&](Sql& sql) { return Store::put(sql, RowChange{"node", "n1", ready}); });
  REQUIRE_FALSE(put.ok());
  CHECK(put.error().code == Code::kBootClaimedTwice);
}
