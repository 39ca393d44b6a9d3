#include "core/rows/lease_terms.h"

#include <catch2/catch.hpp>

#include "core/base/clock.h"
#include "core/rows/site_rows.h"

namespace leasehold {
namespace {

Json image() {
  return Json{{"image", "ubuntu"},
              {"url", "https://images.example/ubuntu.raw.zst"},
              {"sha256", std::string(64, 'a')},
              {"format", "raw.zst"},
              {"rawSha256", std::string(64, 'b')},
              {"rawBytes", 1048576}};
}

Json profile() {
  return Json{{"name", "acme-root-os"}, {"tenant", "acme"},
              {"version", 3},           {"role", "dedicated"},
              {"rootDisk", "auto"},     {"join", "required"},
              {"userDataSha256", ""},   {"sshKeys", Json::array({"ssh-ed25519 AAAA a@b"})}};
}

Json lease_work() {
  return Json{{"table", "work"},
              {"schema", 1},
              {"work", "w-1"},
              {"node", "rack-a1"},
              {"kind", "lease"},
              {"expects", {{"state", "ready"}, {"lease", ""}}},
              {"deadline", "2026-11-30T12:00:00.000Z"},
              {"lease", "l-1"},
              {"reservation", "rs-1"},
              {"tenant", "acme"},
              {"policyRevision", 2},
              {"endsAt", "2026-12-07T10:00:00.000Z"},
              {"profile", profile()},
              {"image", image()}};
}

void refused_in(const Json& work, const std::string& field) {
  Result<WorkRow> parsed = WorkRow::parse(work);
  REQUIRE_FALSE(parsed.ok());
  CHECK(parsed.error().code == Code::kInvalidInput);
  CHECK(parsed.error().field == field);
}

TEST_CASE("a lease work says the same after it was read and written again") {
  WorkRow work = WorkRow::parse(lease_work()).value();
  REQUIRE(work.terms.has_value());
  CHECK(work.terms->lease == LeaseId("l-1"));
  CHECK(work.terms->profile.version == 3);
  Json again = work.terms->to_json();
  for (auto& [member, value] : again.items()) CHECK(lease_work()[member] == value);
  CHECK(again.size() == 7);
}

TEST_CASE("R4: a lease work whose profile has no version is read, and says so") {
  Json work = lease_work();
  work["profile"]["version"] = nullptr;
  WorkRow read = WorkRow::parse(work).value();
  CHECK(read.terms->profile.version == 0);
  CHECK(read.terms->profile.to_json()["version"].is_null());
}

TEST_CASE("a lease work with a wrong member names it") {
  Json work = lease_work();
  work["profile"]["version"] = 0;
  refused_in(work, "profile.version");
  work = lease_work();
  work["profile"]["join"] = "maybe";
  refused_in(work, "profile.join");
  work = lease_work();
  work["image"]["url"] = "http://images.example/ubuntu";
  refused_in(work, "image.url");
  work = lease_work();
  work["image"]["sha256"] = std::string(64, 'A');
  refused_in(work, "image.sha256");
  work = lease_work();
  work["image"]["rawBytes"] = 0;
  refused_in(work, "image.rawBytes");
  work = lease_work();
  work.erase("tenant");
  refused_in(work, "tenant");
}

TEST_CASE("an extension says until when") {
  Json work = {{"work", "w-2"}, {"node", "rack-a1"}, {"kind", "extend"}};
  refused_in(work, "endsAt");
  work["endsAt"] = "2026-12-08T10:00:00.000Z";
  CHECK(WorkRow::parse(work).value().ends_at_ms == parse_time("2026-12-08T10:00:00.000Z").value());
}

TEST_CASE("a lease row says the same after it was read and written again") {
  LeaseRow lease;
  lease.id = LeaseId("l-1");
  lease.node = NodeId("rack-a1");
  lease.tenant = TenantId("acme");
  lease.reservation = "rs-1";
  lease.profile = "acme-root-os";
  lease.profile_version = 3;
  lease.role = "dedicated";
  lease.join = "required";
  lease.lockdown = Lockdown::kUnsupported;
  lease.release_work = "w-3";
  Json row = lease.change().row;
  CHECK(LeaseRow::parse(row).value().change().row == row);
  row["lockdown"] = "shut";
  CHECK(LeaseRow::parse(row).error().field == "lockdown");
}

}  // namespace
}  // namespace leasehold
