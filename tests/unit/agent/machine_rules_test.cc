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
  // ECDSA signs anew each time: another envelope for a command that has its result.
  CHECK(reason(site.post(site.body_of(site.wipe_parts()), site.chain_pem)) == "replayed");
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
