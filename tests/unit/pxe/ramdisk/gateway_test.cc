// The whole program against a tiny gateway, over real sockets and TLS.
#include "tests/unit/pxe/ramdisk/gateway_support.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

Json wipe_args(const std::vector<ManifestEntry>& manifest) {
  return {{"disks", DiskManifest{manifest}.to_json()},
          {"wipe_minimum", "purge"},
          {"readback", "sample"},
          {"sample_bytes", 1 << 20},
          {"seed", "0011"}};
}

SignedEnvelope signed_envelope(const std::string& body) {
  Json json = parse_json(body).value();
  json.erase("command");
  return SignedEnvelope::from_json(json).value();
}

std::string command_of(const std::string& body) {
  return json_text(parse_json(body).value(), "command");
}

}  // namespace

TEST_CASE("a ramdisk joins, does its commands and signs what verifies") {
  TestSite site;
  TinyGateway gateway(site);
  FakeMachine machine;
  std::vector<ManifestEntry> manifest = {machine.disk("nvme0n1", "S1")};
  machine.nvme(id_ctrl(0x10a, 0, 0), "'format '*) zero \"$2\";;");
  machine.file("sys/bus/pci/devices/0000:00:01.0/vendor", "0x8086\n");
  gateway.add_command("c-1", "inventory", Json::object());
  gateway.add_command("c-2", "disk.wipe", wipe_args(manifest));
  gateway.add_command("c-3", "diag.dcgm", {{"level", 1}, {"gpus", Json::array()}});
  gateway.fail_results(2);
  RamdiskProcess ramdisk(machine, site, gateway.run_url());

  bool done = eventually([&] { return gateway.results().size() >= 5; });
  INFO(ramdisk.log());
  REQUIRE(done);
  std::vector<std::string> results = gateway.results();
  // The first was answered 503 twice, and came again byte for byte.
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
  CHECK(command_of(results[2]) == "c-1");
  CHECK(command_of(results[3]) == "c-2");
  CHECK(command_of(results[4]) == "c-3");

  SystemClock clock;
  Expectation expected;
  expected.context = gateway.context();
  expected.manifest = DiskManifest{manifest};
  expected.gpus = std::vector<std::string>{};
  expected.wipe.readback = ReadbackExtent::kSample;
  const std::pair<ResultKind, size_t> kinds[] = {
      {ResultKind::kInventory, 2}, {ResultKind::kDiskWipe, 3}, {ResultKind::kDiagnosis, 4}};
  for (const auto& [kind, at] : kinds) {
    expected.kind = kind;
    expected.command = command_of(results[at]);
    expected.nonce = base64_encode("nonce of " + expected.command);
    Checked<VerifiedResult> verified =
        verify_result(signed_envelope(results[at]), expected, site.anchors(), clock.now_ms());
    INFO((verified.ok() ? "" : verified.error().text()));
    CHECK(verified.ok());
  }
  CHECK(gateway.run_requests == 1);
  CHECK(gateway.join_requests == 1);
  CHECK(gateway.uncertified_requests == 0);
  CHECK(ramdisk.log().find(gateway.token()) == std::string::npos);
  CHECK(ramdisk.log().find("PRIVATE KEY") == std::string::npos);
  CHECK(ramdisk.ended() == -1);
}

TEST_CASE("a command that was done is answered with its kept result") {
  TestSite site;
  TinyGateway gateway(site);
  FakeMachine machine;
  std::vector<ManifestEntry> manifest = {machine.disk("nvme0n1", "S1")};
  machine.nvme(id_ctrl(2, 0, 0), "'format '*) zero \"$2\";;");
  gateway.add_command("c-1", "disk.wipe", wipe_args(manifest));
  RamdiskProcess ramdisk(machine, site, gateway.run_url());
  REQUIRE(eventually([&] { return gateway.results().size() == 1; }));
  gateway.add_command("c-1", "disk.wipe", wipe_args(manifest));
  REQUIRE(eventually([&] { return gateway.results().size() == 2; }));
  CHECK(gateway.results()[0] == gateway.results()[1]);
  std::string calls = machine.nvme_calls();
  CHECK(calls.find("format") == calls.rfind("format"));
}

TEST_CASE("who cannot show to be this site's agent is not joined") {
  TestSite site;
  TinyGateway gateway(site);
  FakeMachine machine;
  gateway.answer_hellos(
      {Hello::kUnavailable, Hello::kOtherNonce, Hello::kSignedByGateway, Hello::kOtherSite});
  RamdiskProcess ramdisk(machine, site, gateway.run_url());
  REQUIRE(eventually([&] { return gateway.good_joins == 1; }));
  CHECK(gateway.hello_requests == 5);
  CHECK(gateway.join_requests == 1);
}

TEST_CASE("a gateway under another root hears no hello") {
  TestSite site, impostor;
  TinyGateway gateway(impostor);
  FakeMachine machine;
  RamdiskProcess ramdisk(machine, site, gateway.run_url());
  REQUIRE(eventually([&] { return ramdisk.log().find("ramdisk.waiting") != std::string::npos; }));
  CHECK(gateway.hello_requests == 0);
  CHECK(ramdisk.ended() == -1);
}

TEST_CASE("commands of another run are not done, and those after them are") {
  TestSite site;
  TinyGateway gateway(site);
  FakeMachine machine;
  gateway.add_command("c-1", "inventory", Json::object(), "r-2");
  gateway.add_command("c-2", "make.coffee", Json::object());
  gateway.add_command("c-3", "disk.wipe", {{"disks", 7}});
  gateway.add_command("c-4", "inventory", Json::object());
  RamdiskProcess ramdisk(machine, site, gateway.run_url());
  REQUIRE(eventually([&] { return gateway.results().size() == 1; }));
  CHECK(command_of(gateway.results()[0]) == "c-4");
}

TEST_CASE("a run document that somebody else has claimed ends this boot, after one request") {
  TestSite site;
  TinyGateway gateway(site);
  gateway.run_status = 410;
  FakeMachine machine;
  RamdiskProcess ramdisk(machine, site, gateway.run_url());
  int status = -1;
  REQUIRE(eventually([&] { return (status = ramdisk.ended()) != -1; }));
  CHECK(status == 1);
  CHECK(gateway.run_requests == 1);
  CHECK(gateway.hello_requests == 0);
}
