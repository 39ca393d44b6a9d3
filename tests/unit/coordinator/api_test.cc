#include "coordinator/api/api.h"

#include <catch2/catch.hpp>

#include "coordinator/limits.h"
#include "tests/support/coordinator_rig.h"
#include "tests/support/faulty_vfs.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

Json newest_audit(CoordinatorRig& rig) {
  Json items = rig.get("/v1/audit?limit=1000").body["items"];
  return items.back();
}

}  // namespace

TEST_CASE("who may call what") {
  CoordinatorRig rig;
  Signer agent = rig.enrol();
  auto code = [&](const char* method, const char* path, const Signer* who) {
    Answer answer = rig.call(method, path, {}, who);
    return answer.code().empty() ? std::to_string(answer.status) : answer.code();
  };
  CHECK(code("GET", "/v1/root", nullptr) == "200");
  CHECK(code("GET", "/v1/whoami", nullptr) == "UNAUTHENTICATED");
  CHECK(code("GET", "/v1/status", nullptr) == "UNAUTHENTICATED");
  CHECK(code("GET", "/v1/whoami", &agent) == "200");
  CHECK(code("GET", "/v1/status", &agent) == "FORBIDDEN");
  CHECK(code("GET", "/v1/nodes", &agent) == "FORBIDDEN");
  CHECK(code("POST", "/v1/sync/hello", &rig.admin) == "FORBIDDEN");
  CHECK(code("POST", "/v1/site/renew", &rig.admin) == "FORBIDDEN");
  Signer tenant = rig.of(IdentityKind::kTenant);
  CHECK(code("GET", "/v1/whoami", &tenant) == "200");
  CHECK(code("GET", "/v1/status", &tenant) == "FORBIDDEN");
  for (IdentityKind kind :
       {IdentityKind::kNode, IdentityKind::kGateway, IdentityKind::kCoordinator}) {
    Signer other = rig.of(kind);
    INFO(kind_name(kind));
    CHECK(code("GET", "/v1/whoami", &other) == "FORBIDDEN");
    CHECK(code("GET", "/v1/status", &other) == "FORBIDDEN");
  }
  // The ramdisk's site CA is not the one that was recorded for s1 here.
  Signer ramdisk = rig.of(IdentityKind::kRamdisk);
  CHECK(code("GET", "/v1/status", &ramdisk) == "UNAUTHENTICATED");
  CoordinatorRig stranger;
  CHECK(code("GET", "/v1/status", &stranger.admin) == "UNAUTHENTICATED");
  rig.clock.advance(400LL * 24 * kHour);
  CHECK(code("GET", "/v1/status", &rig.admin) == "UNAUTHENTICATED");
}

TEST_CASE("each call is one line of the audit, refused ones too") {
  CoordinatorRig rig;
  rig.post("/v1/sites", {{"site", "s1"}});
  Json line = newest_audit(rig);
  CHECK(json_text(line, "who") == "spiffe://example.net/operator/admin");
  CHECK(json_text(line, "method") == "POST");
  CHECK(json_text(line, "path") == "/v1/sites");
  CHECK(line["status"] == 200);
  CHECK(json_text(line, "code").empty());
  rig.post("/v1/sites", {{"site", "s1"}});
  CHECK(json_text(newest_audit(rig), "code") == "CONFLICT");
  rig.post("/v1/sites", {{"sites", "s1"}});
  CHECK(json_text(newest_audit(rig), "code") == "INVALID_INPUT");
  Signer agent = rig.of(IdentityKind::kSiteAgent);
  rig.call("GET", "/v1/status", {}, &agent);
  line = newest_audit(rig);
  CHECK(json_text(line, "code") == "FORBIDDEN");
  CHECK(json_text(line, "who") == "spiffe://s1.example.net/site-agent");
  Json items = rig.get("/v1/audit").body["items"];
  for (size_t i = 0; i < items.size(); ++i) CHECK(items[i]["n"] == i + 1);  // dense
}

TEST_CASE("strangers who fail do not fill the audit") {
  CoordinatorRig rig;
  const int64_t tries = limits::kStrangersAudited + 20;
  for (int64_t i = 0; i < tries; ++i) {
    CHECK(rig.call("POST", "/v1/sites/s1/enrol", rig.enrolment("guess")).status == 401);
  }
  const Json items = rig.get("/v1/audit?limit=1000").body["items"];
  CHECK(items.size() >= limits::kStrangersAudited);
  CHECK(items.size() <= 2 * limits::kStrangersAudited);  // a minute may have ended in between
  CHECK(json_text(items[0], "code") == "UNAUTHENTICATED");
}

TEST_CASE("a refused call leaves its line and nothing else") {
  CoordinatorRig rig;
  rig.post("/v1/sites", {{"site", "s1"}});
  Answer refused = rig.post("/v1/sites", {{"site", "s2"}, {"extra", 1}});
  CHECK(refused.status == 400);
  CHECK(refused.field() == "extra");
  CHECK(rig.get("/v1/sites/s2").status == 404);
}

TEST_CASE("bad input is answered with code, message and field") {
  CoordinatorRig rig;
  auto field = [&](const std::string& target, const std::string& text) {
    Answer answer = rig.call_text("POST", target, text, &rig.admin);
    CHECK(answer.status == 400);
    CHECK_FALSE(json_text(answer.body, "message").empty());
    return answer.code() + " " + answer.field();
  };
  CHECK(field("/v1/sites", "{") == "INVALID_INPUT ");
  CHECK(field("/v1/sites", "[]") == "INVALID_INPUT ");
  CHECK(field("/v1/sites", R"({"site":"S1"})") == "INVALID_INPUT site");
  CHECK(field("/v1/sites", R"({"site":7})") == "INVALID_INPUT site");
  CHECK(field("/v1/sites", R"({"site":"a-"})") == "INVALID_INPUT site");
  CHECK(field("/v1/sites", R"({"site":"a","site":"b"})") == "INVALID_INPUT ");
  CHECK(field("/v1/sites?force=1", R"({"site":"a"})") == "INVALID_INPUT force");
  CHECK(rig.get("/v1/events?after=x").field() == "after");
  CHECK(rig.get("/v1/events?wait=26").field() == "wait");
  CHECK(rig.get("/v1/sites?limit=0").field() == "limit");
  CHECK(rig.get("/v1/sites?limit=1001").field() == "limit");
  CHECK(rig.get("/v1/nothing").status == 404);
  CHECK(rig.call("DELETE", "/v1/sites", {}, &rig.admin).status == 404);
}

TEST_CASE("lists come in pages") {
  CoordinatorRig rig;
  for (const char* site : {"a", "b", "c", "d", "e"}) rig.post("/v1/sites", {{"site", site}});
  std::string seen, after;
  for (int page = 0; page < 3; ++page) {
    Answer answer = rig.get("/v1/sites?limit=2&after=" + after);
    for (const Json& site : answer.body["items"]) seen += json_text(site, "site");
    after = json_text(answer.body, "next");
    CHECK(after.empty() == (page == 2));
  }
  CHECK(seen == "abcde");
}

TEST_CASE("a long poll is answered by the event that it waits for, and no sooner") {
  CoordinatorRig rig;
  auto answer = std::make_shared<Answer>();
  rig.begin(1, "/v1/events?after=0&wait=25", answer);
  rig.get("/v1/status");
  rig.get("/v1/status");
  CHECK(answer->status == 0);
  rig.post("/v1/sites", {{"site", "s1"}});
  rig.run_until([&] { return answer->status != 0; });
  REQUIRE(answer->status == 200);
  CHECK(answer->body["events"][0]["name"] == "site.created");
  CHECK(answer->body["next"] == 1);
}

TEST_CASE("a long poll ends with its time, and with its connection") {
  CoordinatorRig rig;
  auto timed = std::make_shared<Answer>();
  auto gone = std::make_shared<Answer>();
  rig.begin(1, "/v1/events?after=0&wait=1", timed);
  rig.begin(2, "/v1/events?after=0&wait=25", gone);
  rig.get("/v1/status");  // both are parked
  rig.api->connection_closed(2);
  rig.run_until([&] { return timed->status != 0; });
  REQUIRE(timed->status == 200);
  CHECK(timed->body["events"].empty());
  rig.post("/v1/sites", {{"site", "s1"}});
  rig.get("/v1/status");
  CHECK(gone->status == 0);
}

TEST_CASE("an answer is durable: a restart knows all that was answered") {
  CoordinatorRig rig;
  for (int i = 0; i < 20; ++i) {
    REQUIRE(rig.post("/v1/sites", {{"site", "s" + std::to_string(i)}}).status == 200);
  }
  rig.restart();
  CHECK(rig.get("/v1/sites?limit=100").body["items"].size() == 20);
}

TEST_CASE("a full disk refuses, loses nothing that was answered, and goes on when there is room") {
  FaultyVfs disk;
  CoordinatorRig rig(disk.name());
  REQUIRE(rig.post("/v1/sites", {{"site", "before"}}).status == 200);
  disk.full = true;
  Answer refused = rig.post("/v1/sites", {{"site", "during"}});
  CHECK(refused.status == 500);
  CHECK(refused.code() == "IO");
  CHECK(disk.full_hits > 0);
  disk.full = false;
  REQUIRE(rig.post("/v1/sites", {{"site", "after"}}).status == 200);
  rig.restart();
  CHECK(rig.get("/v1/sites/before").status == 200);
  CHECK(rig.get("/v1/sites/during").status == 404);
  CHECK(rig.get("/v1/sites/after").status == 200);
}

TEST_CASE("a database that another process holds is said to be, at start") {
  CoordinatorRig rig;
  Database::Options options;
  options.path = rig.folder.file("coordinator.db");
  options.deliver = [](std::function<void()>) {};
  auto second = Database::open(std::move(options), nullptr);
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().code == Code::kConfig);
}
