// The rules of the door to machines: each thing that a result or a join may not be is refused with
// its own reason, while the good one passes in the same test.
#include "tests/unit/agent/door_site.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

// The reason of a refused result, or "" if it was accepted.
std::string reason(const Result<ResultOutcome>& outcome) {
  if (outcome.ok()) return "";
  return outcome.error().field.empty() ? std::string(code_name(outcome.error().code))
                                       : outcome.error().field;
}

}  // namespace

TEST_CASE("a join needs this boot's token over this CSR, once") {
  DoorSite site;
  std::string other = make_csr(generate_key().private_key_pem).value();
  CHECK(site.join(site.join_body(site.csr, "another token")).error().code == Code::kForbidden);
  Json swapped = site.join_body(site.csr, site.token);
  swapped["csr"] = other;
  CHECK(site.join(swapped).error().code == Code::kForbidden);
  Json elsewhere = site.join_body(site.csr, site.token);
  elsewhere["run"] = "r-other";
  CHECK(site.join(elsewhere).error().code == Code::kForbidden);
  CHECK(site.row("ramdisk", "b-1")["state"] == "armed");

  Result<JoinOutcome> good = site.join(site.join_body(site.csr, site.token));
  REQUIRE(good.ok());
  CHECK(site.row("ramdisk", "b-1")["state"] == "joined");
  // The answer was lost: the same CSR is answered alike, and no second certificate is made.
  Result<JoinOutcome> again = site.join(site.join_body(site.csr, site.token));
  REQUIRE(again.ok());
  CHECK(again.value().answer == good.value().answer);
  // A second machine with the same token: the boot is not to be trusted any more.
  CHECK(site.join(site.join_body(other, site.token)).error().code == Code::kForbidden);
  CHECK(site.row("ramdisk", "b-1")["state"] == "claimed-twice");
  CHECK(site.join(site.join_body(site.csr, site.token)).error().code == Code::kForbidden);
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
  CHECK(reason(site.post(site.body_of(part), tenant.chain_pem)) == "tenant-controlled");
  CHECK(reason(site.post(site.body_of(part), site.chain_pem)) == "tenant-may-not-attest");
  CHECK(site.row("result", site.command.command).is_null());
  CHECK(reason(site.post(site.body_of(site.wipe_parts()), site.chain_pem)).empty());
}

TEST_CASE("only the open ramdisk of the run is heard") {
  DoorSite site;
  site.join_well();
  Identity of_run = ramdisk_identity();
  of_run.run = "r-law";
  // A certificate of the right name that was never issued for this boot (a stolen site CA apart).
  Signer other = site.pki().sign_in(of_run);
  CHECK(reason(site.post(site.body_of(site.wipe_parts()), other.chain_pem)) == "FORBIDDEN");
  Signer foreign_run = site.pki().sign_in(ramdisk_identity());
  CHECK(reason(site.post(site.body_of(site.wipe_parts()), foreign_run.chain_pem)) == "FORBIDDEN");
  CHECK(reason(site.post(site.body_of(site.wipe_parts()), {})) == "UNAUTHENTICATED");

  // Signed with another key of the run, in the connection of the right one.
  ResultParts smuggled = site.wipe_parts();
  smuggled.signer = foreign_run;
  CHECK(reason(site.post(site.body_of(smuggled), site.chain_pem)) == "wrong-run");

  REQUIRE(site.in([&](Sql& sql) -> Status {
                RamdiskRow row = TRY(RamdiskRow::parse(TRY(Store::get(sql, "ramdisk", "b-1"))));
                row.state = "closed";
                return Store::put(sql, row.change());
              })
              .ok());
  CHECK(reason(site.post(site.body_of(site.wipe_parts()), site.chain_pem)) == "FORBIDDEN");
}

TEST_CASE("a raised generation closes the door to the run's ramdisk") {
  DoorSite site;
  site.join_well();
  REQUIRE(site.in([&](Sql& sql) -> Status {
                Json row = TRY(Store::get(sql, "node", "n1"));
                row["generation"] = 5;
                return row_store::put(sql, RowChange{"node", "n1", row});
              })
              .ok());
  CHECK(reason(site.post(site.body_of(site.wipe_parts()), site.chain_pem)) == "FORBIDDEN");
}
