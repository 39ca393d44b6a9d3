#include <fcntl.h>
#include <atomic>

#include "core/base/limits.h"
#include "pxe/ramdisk/wipe_disks.h"
#include "tests/unit/pxe/ramdisk/support.h"

using namespace leasehold;
using leasehold::test::FakeMachine;
using leasehold::test::id_ctrl;

namespace {

constexpr const char* kHonest = "'format '*) zero \"$2\";;";

// Time passes only in sleeps, so that no test waits for a disk that never comes.
class FakeClock : public Clock {
 public:
  int64_t now_ms() override { return monotonic_ms(); }
  int64_t monotonic_ms() override { return now_; }
  void sleep_ms(int64_t duration_ms) override { now_ += duration_ms; }

 private:
  std::atomic<int64_t> now_ = 1'000'000;
};

DiskWipeReport wipe(const FakeMachine& machine, std::vector<ManifestEntry> manifest,
                    const std::string& readback = "full", int64_t sample_bytes = 1 << 20) {
  Json args = {{"disks", DiskManifest{manifest}.to_json()},
               {"wipe_minimum", "purge"},
               {"readback", readback},
               {"sample_bytes", sample_bytes},
               {"seed", "00112233445566778899aabbccddeeff"}};
  Result<WipeRequest> request = parse_wipe_args(args);
  REQUIRE(request.ok());
  FakeClock clock;
  DiskWipeReport report = wipe_disks(machine.root(), request.value(), clock);
  // Whatever happened, it can be read by who judges it.
  REQUIRE(DiskWipeReport::from_json(report.to_json()).ok());
  return report;
}

std::string flags(const DiskWipe& disk) {
  std::string text;
  for (const WipeCommand& command : disk.commands) {
    for (const std::string& word : command.argv) text += word + " ";
  }
  return text;
}

}  // namespace

TEST_CASE("an honest disk is wiped, read back and passes the verifier") {
  FakeMachine machine;
  std::vector<ManifestEntry> manifest = {machine.disk("nvme0n1", "S1"),
                                         machine.disk("nvme1n1", "S2")};
  machine.nvme(id_ctrl(0x10a, 0, 0), kHonest);
  for (const char* readback : {"full", "sample"}) {
    DiskWipeReport report = wipe(machine, manifest, readback);
    WipeRules rules;
    rules.readback = parse_readback_extent(readback).value();
    Checked<void> shown = check_wipe_report(report, DiskManifest{manifest}, rules);
    INFO((shown.ok() ? "" : shown.error().text()));
    CHECK(shown.ok());
    REQUIRE(report.disks.size() == 2);
    const DiskWipe& disk = report.disks[0];
    CHECK(disk.verdict == Verdict::kPass);
    CHECK(disk.reason == "");
    CHECK(disk.technique == "NVMe Format, SES 1 (user data erase)");
    CHECK(disk.markers.written >= 14);
    CHECK(disk.markers.survived == 0);
    CHECK(disk.readback.found == ReadbackClass::kZeros);
    CHECK(disk.readback.direct_io);
    CHECK(disk.readback.bytes >= 3 << 20);
  }
  CHECK(machine.nvme_calls().find("ses=0") == std::string::npos);
}

TEST_CASE("a disk that reads all ones passes") {
  FakeMachine machine;
  std::vector<ManifestEntry> manifest = {machine.disk("nvme0n1", "S1")};
  machine.nvme(id_ctrl(2, 0, 0),
               "'format '*) dd if=/dev/zero bs=1M count=4 | tr '\\000' '\\377' > \"$2\";;");
  DiskWipeReport report = wipe(machine, manifest);
  CHECK(report.verdict == Verdict::kPass);
  CHECK(report.disks[0].readback.found == ReadbackClass::kOnes);
}

TEST_CASE("DK3: a format that says success and erases nothing fails") {
  FakeMachine machine;
  std::vector<ManifestEntry> manifest = {machine.disk("nvme0n1", "S1")};
  machine.nvme(id_ctrl(2, 0, 0), "'format '*) echo Success formatting namespace:1;;");
  DiskWipeReport report = wipe(machine, manifest, "sample");
  CHECK(report.verdict == Verdict::kFail);
  CHECK(report.disks[0].markers.survived == report.disks[0].markers.written);
  CHECK(report.disks[0].readback.found == ReadbackClass::kMixed);
  CHECK(report.disks[0].reason.find("markers are still on the disk") != std::string::npos);
}

TEST_CASE("a format that stops in the middle fails") {
  FakeMachine machine;
  std::vector<ManifestEntry> manifest = {machine.disk("nvme0n1", "S1")};
  machine.nvme(id_ctrl(2, 0, 0),
               "'format '*) dd if=/dev/zero of=\"$2\" bs=1M count=2 conv=notrunc;;");
  DiskWipeReport report = wipe(machine, manifest);
  CHECK(report.verdict == Verdict::kFail);
  CHECK(report.disks[0].markers.survived > 0);
  CHECK(report.disks[0].readback.mismatched_bytes > 0);
}

TEST_CASE("a disk whose markers are gone but whose bytes are not uniform fails") {
  FakeMachine machine;
  std::vector<ManifestEntry> manifest = {machine.disk("nvme0n1", "S1")};
  machine.nvme(id_ctrl(2, 0, 0),
               "'format '*) dd if=/dev/urandom of=\"$2\" bs=1M count=4 conv=notrunc;;");
  DiskWipeReport report = wipe(machine, manifest);
  CHECK(report.verdict == Verdict::kFail);
  CHECK(report.disks[0].markers.survived == 0);
  CHECK(report.disks[0].reason == "what was read back is neither all zeros nor all ones");
}

TEST_CASE("DK2: a refused method is followed by the next, and remembered") {
  FakeMachine machine;
  std::vector<ManifestEntry> manifest = {machine.disk("nvme0n1", "S1")};
  machine.nvme(id_ctrl(2, 4, 1), "'format --ses=1') zero \"$2\";; 'sanitize-log -o') echo '{}';;");
  DiskWipeReport report = wipe(machine, manifest);
  CHECK(report.verdict == Verdict::kPass);
  const DiskWipe& disk = report.disks[0];
  CHECK(disk.technique == "NVMe Format, SES 1 (user data erase)");
  CHECK(disk.reason.find("crypto erase: REFUSED") == std::string::npos);
  CHECK(disk.reason.find("NVMe Sanitize, crypto erase: nvme sanitize ended with 1") == 0);
  CHECK(disk.reason.find("SES 2") != std::string::npos);
  CHECK(flags(disk).find("--ses=1") != std::string::npos);
}

TEST_CASE("no method succeeds: FAIL, with every command on record") {
  FakeMachine machine;
  std::vector<ManifestEntry> manifest = {machine.disk("nvme0n1", "S1")};
  machine.nvme(id_ctrl(2, 4, 0), "");
  DiskWipeReport report = wipe(machine, manifest);
  CHECK(report.verdict == Verdict::kFail);
  CHECK(report.disks[0].method == WipeMethod::kNone);
  CHECK(flags(report.disks[0]).find("--ses=2") != std::string::npos);
  CHECK(flags(report.disks[0]).find("--ses=1") != std::string::npos);
}

TEST_CASE("sanitize is started and followed to its end") {
  FakeMachine machine;
  std::vector<ManifestEntry> manifest = {machine.disk("nvme0n1", "S1")};
  // Idle at first, running twice after the start, then done.
  machine.nvme(id_ctrl(2, 0, 2),
               "'sanitize --sanact=2') zero \"$2\"; echo 3 > \"$2.left\";;\n"
               "'sanitize-log -o') left=$(cat \"$2.left\" 2>/dev/null || echo 0)\n"
               "  case $left in 0) s='(0) never';; 1) s='(1) done';;\n"
               "  *) s='(2) running'; echo $((left-1)) > \"$2.left\";; esac\n"
               "  echo \"{\\\"nvme0n1\\\":{\\\"sstat\\\":{\\\"status\\\":\\\"$s\\\"}}}\";;");
  DiskWipeReport report = wipe(machine, manifest);
  CHECK(report.verdict == Verdict::kPass);
  CHECK(report.disks[0].technique == "NVMe Sanitize, block erase");
}

TEST_CASE("DK5: a sanitize that never ends fails at its deadline") {
  FakeMachine machine;
  std::vector<ManifestEntry> manifest = {machine.disk("nvme0n1", "S1")};
  machine.nvme(id_ctrl(0, 0, 1), "'sanitize-log -o') echo '{\"nvme0\":{\"sstat\":2}}';;");
  Json args = {{"disks", DiskManifest{manifest}.to_json()},
               {"wipe_minimum", "purge"},
               {"readback", "full"},
               {"sample_bytes", 0},
               {"seed", "00"}};
  WipeRequest request = parse_wipe_args(args).value();
  // Each sleep is an hour, so that the deadline comes after a few polls.
  class HourClock : public FakeClock {
   public:
    void sleep_ms(int64_t) override { FakeClock::sleep_ms(3'600'000); }
  };
  HourClock clock;
  DiskWipeReport report = wipe_disks(machine.root(), request, clock);
  CHECK(report.verdict == Verdict::kFail);
  CHECK(report.disks[0].reason == "the sanitize operation did not end in time");
}

TEST_CASE("DK6: a failed sanitize falls to format") {
  FakeMachine machine;
  std::vector<ManifestEntry> manifest = {machine.disk("nvme0n1", "S1")};
  machine.nvme(id_ctrl(2, 0, 1),
               std::string(kHonest) +
                   "'sanitize '*) ;; 'sanitize-log -o') echo '{\"nvme0\":{\"sstat\":3}}';;");
  DiskWipeReport report = wipe(machine, manifest);
  CHECK(report.verdict == Verdict::kPass);
  CHECK(report.disks[0].reason.find("the sanitize operation failed") != std::string::npos);
}

TEST_CASE("DK9: a disk of the manifest that is not there fails") {
  FakeMachine machine;
  std::vector<ManifestEntry> manifest = {machine.disk("nvme0n1", "S1")};
  machine.nvme(id_ctrl(2, 0, 0), kHonest);
  manifest.push_back({"S9", "eui.S9", "Model X", 4096, "nvme", HiddenAreas::kNone});
  DiskWipeReport report = wipe(machine, manifest);
  CHECK(report.verdict == Verdict::kFail);
  REQUIRE(report.disks.size() == 2);
  CHECK(report.disks[0].verdict == Verdict::kPass);
  CHECK(report.disks[1].disk.serial == "S9");
  CHECK(report.disks[1].verdict == Verdict::kFail);
  CHECK(report.disks[1].reason == "missing");
}

TEST_CASE("an extra disk is wiped and reported, and nothing passes") {
  FakeMachine machine;
  std::vector<ManifestEntry> manifest = {machine.disk("nvme0n1", "S1")};
  machine.disk("nvme1n1", "S2");
  machine.nvme(id_ctrl(2, 0, 0), kHonest);
  DiskWipeReport report = wipe(machine, manifest);
  CHECK(report.verdict == Verdict::kUnknown);
  REQUIRE(report.disks.size() == 2);
  CHECK(report.disks[1].disk.serial == "S2");
  CHECK(report.disks[1].method == WipeMethod::kPurge);
  CHECK(report.disks[1].verdict == Verdict::kUnknown);
  CHECK(report.observed.size() == 2);
}

TEST_CASE("a disk with the serial of another fails") {
  FakeMachine machine;
  std::vector<ManifestEntry> manifest = {machine.disk("nvme0n1", "S1")};
  machine.nvme(id_ctrl(2, 0, 0), kHonest);
  manifest[0].capacity_bytes *= 2;
  DiskWipeReport report = wipe(machine, manifest);
  CHECK(report.verdict == Verdict::kFail);
  CHECK(report.disks[0].reason.find("not the one of the manifest") != std::string::npos);
}

TEST_CASE("what cannot be erased or asked is UNKNOWN, with the reason") {
  FakeMachine machine;
  ManifestEntry entry = machine.disk("nvme0n1", "S1");
  auto reason = [&] {
    DiskWipeReport report = wipe(machine, {entry});
    CHECK(report.verdict == Verdict::kUnknown);
    return report.disks.at(0).reason;
  };
  machine.nvme(id_ctrl(0, 0, 0), "");
  CHECK(reason() == "the controller has no erase command");
  machine.nvme("no JSON", "");
  CHECK(reason() == "printed no JSON");
  machine.nvme(
      id_ctrl(0xa, 0, 0),
      std::string(kHonest) + "'list-ns '*) echo '{\"nsid_list\":[{\"nsid\":1},{\"nsid\":2}]}';;");
  CHECK(reason() == "the controller has 2 namespaces");
  machine.nvme(id_ctrl(2, 0, 0, R"("tnvmcap":9999999,"unvmcap":99)"), kHonest);
  CHECK(reason() == "hidden areas: present");
  machine.tool("nvme", "exit 127");
  CHECK(reason().find("nvme id-ctrl ended with 127") == 0);
}

TEST_CASE("a transport without an erase method is UNKNOWN") {
  FakeMachine machine;
  ManifestEntry entry = machine.disk("vda", "S1");
  entry.transport = "virtio";
  entry.hidden_areas = HiddenAreas::kUnknown;
  DiskWipeReport report = wipe(machine, {entry});
  CHECK(report.verdict == Verdict::kUnknown);
  CHECK(report.disks[0].reason == "no erase method for transport virtio");
  CHECK(report.disks[0].readback.found == ReadbackClass::kNone);
}

TEST_CASE("a disk that is not as large as it says, or has gone, fails") {
  FakeMachine machine;
  ManifestEntry entry = machine.disk("nvme0n1", "S1");
  machine.nvme(id_ctrl(2, 0, 0), kHonest);
  REQUIRE(::truncate(machine.device("nvme0n1").c_str(), 1 << 20) == 0);
  CHECK(wipe(machine, {entry}).disks[0].reason.find("the disk is of 1048576 bytes") == 0);
  std::filesystem::remove(machine.device("nvme0n1"));
  DiskWipeReport gone = wipe(machine, {entry});
  CHECK(gone.verdict == Verdict::kFail);
  CHECK(gone.disks[0].reason.find("cannot open") == 0);
}

TEST_CASE("a disk that shrinks during its erase fails") {
  FakeMachine machine;
  ManifestEntry entry = machine.disk("nvme0n1", "S1");
  machine.nvme(id_ctrl(2, 0, 0), "'format '*) : > \"$2\";;");
  DiskWipeReport report = wipe(machine, {entry});
  CHECK(report.verdict == Verdict::kFail);
  CHECK(report.disks[0].readback.bytes == 0);
}

TEST_CASE("without direct I/O nothing is shown") {
  FakeMachine machine;
  ManifestEntry entry = machine.disk("nvme0n1", "S1");
  machine.nvme(id_ctrl(2, 0, 0), kHonest);
  // A file system in memory, which has no direct I/O before Linux 6.6.
  char pattern[] = "/dev/shm/ramdisk-test-XXXXXX";
  int fd = ::mkstemp(pattern);
  REQUIRE(fd >= 0);
  REQUIRE(::ftruncate(fd, 4 << 20) == 0);
  ::close(fd);
  int direct = ::open(pattern, O_RDONLY | O_DIRECT);
  std::filesystem::remove(machine.device("nvme0n1"));
  std::filesystem::create_symlink(pattern, machine.device("nvme0n1"));
  DiskWipeReport report = wipe(machine, {entry});
  ::unlink(pattern);
  if (direct >= 0) {
    ::close(direct);
    CHECK(report.verdict == Verdict::kPass);
    return;
  }
  CHECK(report.verdict == Verdict::kUnknown);
  CHECK_FALSE(report.disks[0].readback.direct_io);
  CHECK(report.disks[0].reason == "the disk takes no direct I/O");
}

TEST_CASE("an empty manifest proves nothing") {
  FakeMachine machine;
  CHECK(wipe(machine, {}).verdict == Verdict::kUnknown);
}

TEST_CASE("a tool's output is kept short and printable") {
  FakeMachine machine;
  ManifestEntry entry = machine.disk("nvme0n1", "S1");
  machine.nvme(id_ctrl(2, 0, 0),
               "'format '*) zero \"$2\"; printf '\\377\\001'; head -c 100000 /dev/zero;;");
  DiskWipeReport report = wipe(machine, {entry});
  const std::string& output = report.disks[0].commands.back().output;
  CHECK(output.size() == limits::kRamdiskToolRecordBytes);
  CHECK(canonical_json(report.to_json()).ok());
}

TEST_CASE("bad arguments of disk.wipe are refused") {
  Json good = {{"disks", Json::array()},
               {"wipe_minimum", "purge"},
               {"readback", "full"},
               {"sample_bytes", 0},
               {"seed", "00"}};
  REQUIRE(parse_wipe_args(good).ok());
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, Json>>{{"disks", "all"},
                                                 {"disks", Json::array({Json::object()})},
                                                 {"wipe_minimum", "none"},
                                                 {"readback", ""},
                                                 {"sample_bytes", -1},
                                                 {"seed", ""},
                                                 {"seed", "xy"},
                                                 {"seed", std::string(200, '0')}}) {
    Json bad = good;
    bad[key] = value;
    CHECK_FALSE(parse_wipe_args(bad).ok());
  }
}
