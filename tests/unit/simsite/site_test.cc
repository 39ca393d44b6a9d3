// The whole program over its real sockets.
#include "simsite/ramdisk_process.h"
#include "tests/unit/simsite/site_support.h"

namespace leasehold::simsite {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("a network boot runs the ramdisk, which formats the disk through the shim") {
  RunningSite site;
  site.arm();
  site.boot_once();
  CHECK(site.power() == "Off");
  CHECK(site.has_tenant());
  site.reset("On");
  REQUIRE(site.comes_to_run("ramdisk"));
  REQUIRE(eventually([&] { return !site.text("state/m1/root/format.out").empty(); }));
  CHECK(site.text("state/m1/root/format.out") == "Success formatting namespace:1\nexit 0\n");
  CHECK_FALSE(site.has_tenant());
  CHECK(site.bootd.asked() == Names{std::string("HEAD /boot/") + kMac,
                                    std::string("GET /boot/") + kMac, "GET /image/vmlinuz",
                                    "GET /image/r.img"});
  CHECK(site.text("state/m1/console.log").find("quiet leasehold.run=http://") != std::string::npos);
  std::string disk = site.file("state/m1/root/dev/nvme0n1");
  CHECK(site.effects() == Names{std::string("PATCH ") + kSystem + ": boot override Pxe Once",
                                std::string("POST ") + kReset + ": reset On",
                                "nvme format " + disk + " --ses=1 --force"});
  Json boot = parse_json(site.redfish("GET", kSystem).value().body).value()["Boot"];
  CHECK(boot["BootSourceOverrideEnabled"] == "Disabled");

  pid_t pid = site.ask("/machines/m1")["ramdisk_pid"];
  REQUIRE(process_exists(pid));
  // The script and its sleep.
  CHECK(eventually([&] { return session_members(pid).size() == 2; }));
  site.reset("ForceOff");
  CHECK(site.power() == "Off");
  CHECK_FALSE(process_exists(pid));
  CHECK(eventually([&] { return session_members(pid).empty(); }));

  // Wiped: the next power-on finds nothing to boot.
  site.reset("On");
  CHECK(site.comes_to_run("no-boot-device"));
  CHECK(site.power() == "On");
}

TEST_CASE("the ramdisk sees the machine in the shapes of sysfs") {
  RunningSite site;
  site.arm();
  site.boot_once();
  site.reset("On");
  REQUIRE(site.comes_to_run("ramdisk"));
  auto seen = [&](const std::string& name) { return site.text("state/m1/root/" + name); };
  CHECK(seen("sys/block/nvme0n1/size") == "8192\n");
  CHECK(seen("sys/block/nvme0n1/wwid") == "eui.0000000000000001\n");
  CHECK(seen("sys/block/nvme0n1/device/serial") == "SN001A              \n");
  CHECK(seen("sys/bus/pci/devices/0000:17:00.0/vendor") == "0x10de\n");
  CHECK(seen("sys/class/net/eth0/address") == std::string(kMac) + "\n");
  CHECK(seen("etc/leasehold/root.pem") == "ROOT\n");
  Json system = parse_json(site.redfish("GET", kSystem).value().body).value();
  CHECK(seen("sys/class/dmi/id/product_uuid") == system["UUID"].get<std::string>() + "\n");
  CHECK(seen("sys/class/dmi/id/board_serial") == "BOARD-m1\n");
  CHECK(seen("sys/class/dmi/id/product_serial") ==
        system["SerialNumber"].get<std::string>() + "\n");
}

TEST_CASE("without a boot script the firmware falls to the tenant's disk") {
  RunningSite site;
  site.boot_once();
  site.reset("On");
  REQUIRE(site.comes_to_run("disk-os"));
  CHECK(site.ask("/machines/m1")["os"] == "tenant");
  CHECK(site.bootd.asked() == Names{std::string("HEAD /boot/") + kMac});
  CHECK(site.has_tenant());
  // Without an override the disk comes first.
  site.arm();
  site.reset("ForceRestart");
  REQUIRE(site.comes_to_run("disk-os"));
  CHECK(site.bootd.asked().size() == 1);
}

TEST_CASE("power takes its time and only an operating system hears the button") {
  RunningSite site(Json{{"delays", {{"power_ms", 150}, {"boot_ms", 50}}}});
  site.reset("On");
  CHECK(site.power() == "PoweringOn");
  REQUIRE(site.comes_to_run("disk-os"));
  CHECK(site.power() == "On");
  site.reset("GracefulShutdown");
  CHECK(site.power() == "PoweringOff");
  CHECK(eventually([&] { return site.power() == "Off"; }));
  CHECK(site.status("POST", kReset, {{"ResetType", "GracefulShutdown"}}) == 409);
}

TEST_CASE("BMC faults do what they say, with and without their effect") {
  RunningSite site;
  Json patch = {
      {"on", "bmc"}, {"method", "PATCH"}, {"path", "/redfish/v1/AccountService/Accounts/*"}};
  auto with = [&](const char* id, Json more) {
    Json rule = patch;
    rule["id"] = id;
    rule.merge_patch(more);
    site.fault(rule);
  };
  auto change = [&](const char* from, const char* to) {
    return site.redfish("PATCH", kAccount, {{"Password", to}}, from);
  };

  with("refuses", {{"action", "status"}, {"args", {{"code", 400}, {"echo", true}}}});
  HttpResponse echoed = change("factory-1", "password-2").value();
  CHECK(echoed.status == 400);
  CHECK(echoed.body.find("password-2") != std::string::npos);
  with("lies", {{"action", "ignore-then-ok"}});
  CHECK(change("factory-1", "password-2").value().status == 204);
  CHECK(site.status("GET", kSystem, nullptr, "password-2") == 401);
  CHECK(site.effects().empty());

  with("no-reply", {{"action", "apply-without-reply"}});
  CHECK_FALSE(change("factory-1", "password-2").ok());
  CHECK(site.status("GET", kSystem, nullptr, "factory-1") == 401);
  CHECK(site.status("GET", kSystem, nullptr, "password-2") == 200);
  with("says-no", {{"action", "apply-then-status"}, {"args", {{"code", 500}}}});
  CHECK(change("password-2", "password-3").value().status == 500);
  CHECK(site.status("GET", kSystem, nullptr, "password-3") == 200);
  CHECK(site.effects().size() == 2);

  for (const char* id : {"refuses", "lies", "no-reply", "says-no"}) CHECK(site.hits(id) == 1);
  Json secrets = site.ask("/machines/m1/secrets");
  CHECK(secrets["passwords"]["admin"] == "password-3");
  CHECK(secrets["sent_passwords"].size() == 4);
  CHECK(site.program->log().find("password-3") == std::string::npos);
}

TEST_CASE("connections are dropped, reset, hung and delayed, and answers are changed") {
  RunningSite site;
  auto rule = [&](const char* id, Json more) {
    Json whole = {{"id", id}, {"on", "bmc"}, {"path", kSystem}};
    whole.update(more);  // merge_patch would drop the nulls
    site.fault(whole);
  };
  auto get = [&](int64_t timeout_ms) {
    return site.redfish("GET", kSystem, nullptr, "factory-1", timeout_ms);
  };
  rule("drop", {{"action", "drop"}});
  CHECK_FALSE(get(10'000).ok());
  rule("reset", {{"action", "reset"}});
  CHECK_FALSE(get(10'000).ok());
  rule("hang", {{"action", "hang"}});
  CHECK(get(200).error().code == Code::kTimeout);
  rule("latency", {{"action", "latency"}, {"args", {{"ms", 120}}}});
  auto before = std::chrono::steady_clock::now();
  CHECK(get(10'000).value().status == 200);
  CHECK(std::chrono::steady_clock::now() - before >= std::chrono::milliseconds(120));
  rule("merge", {{"action", "merge"}, {"args", {{"PowerState", nullptr}, {"Extra", 1}}}});
  Json merged = parse_json(get(10'000).value().body).value();
  CHECK_FALSE(merged.contains("PowerState"));
  CHECK(merged["Extra"] == 1);
  for (const char* id : {"drop", "reset", "hang", "latency", "merge"}) CHECK(site.hits(id) == 1);
  CHECK(get(10'000).value().status == 200);

  CHECK(site.control("DELETE", "/machines/m1/faults").status == 200);
  CHECK(site.ask("/faults")["faults"].empty());
  CHECK(site.control("POST", "/machines/m1/faults", {{"id", "x"}, {"on", "bmc"}}).status == 400);
  CHECK(site.control("GET", "/machines/m2").status == 404);
}

TEST_CASE("a BMC accepts Off and the host stays On") {
  RunningSite site(Json{{"power", "On"}});
  REQUIRE(site.comes_to_run("disk-os"));
  site.fault({{"id", "W3"},
              {"on", "bmc"},
              {"method", "POST"},
              {"action", "ignore-then-ok"},
              {"path", "/redfish/v1/Systems/*/Actions/ComputerSystem.Reset"},
              {"count", -1},
              {"body", {{"ResetType", "ForceOff"}}}});
  site.reset("ForceOff");
  CHECK(site.power() == "On");
  CHECK(site.hits("W3") == 1);
}

TEST_CASE("machines do not boot, boot their disk, or die at a tool") {
  RunningSite site;
  site.arm();
  site.fault({{"id", "never"}, {"on", "machine"}, {"action", "no-boot"}});
  site.boot_once();
  site.reset("On");
  CHECK(site.runs() == "firmware");
  CHECK(site.hits("never") == 1);
  site.reset("ForceOff");

  site.fault({{"id", "disk"}, {"on", "machine"}, {"action", "boots-disk"}});
  site.boot_once();
  site.reset("On");
  REQUIRE(site.comes_to_run("disk-os"));
  CHECK(site.bootd.asked().empty());
  site.reset("ForceOff");

  site.fault({{"id", "dies"}, {"on", "tool"}, {"method", "format"}, {"action", "dies"}});
  site.boot_once();
  site.reset("On");
  REQUIRE(site.comes_to_run("halted"));
  CHECK(site.power() == "On");
  CHECK(site.hits("dies") == 1);
  CHECK(site.has_tenant());
  CHECK(site.text("state/m1/root/format.out").empty());
  site.reset("ForceOff");

  site.fault({{"id", "later"},
              {"on", "machine"},
              {"action", "dies"},
              {"args", {{"after_ms", 30}, {"power", "Off"}}}});
  site.boot_once();
  site.reset("On");
  CHECK(eventually([&] { return site.hits("later") == 1 && site.power() == "Off"; }));
}

TEST_CASE("a disk says it was formatted and was not") {
  RunningSite site;
  site.arm();
  site.fault({{"id", "DK3"}, {"on", "tool"}, {"method", "format"}, {"action", "format-lies"}});
  site.boot_once();
  site.reset("On");
  REQUIRE(eventually([&] { return !site.text("state/m1/root/format.out").empty(); }));
  CHECK(site.text("state/m1/root/format.out") == "Success formatting namespace:1\nexit 0\n");
  CHECK(site.has_tenant());
  CHECK(site.hits("DK3") == 1);
  CHECK(site.effects().size() == 2);  // the override and the power-on
}

TEST_CASE("an override for once stays in force only where that is a fault") {
  for (bool keeps : {false, true}) {
    RunningSite site;
    site.arm();
    if (keeps) site.fault({{"id", "B7"}, {"on", "machine"}, {"action", "keeps-override"}});
    site.boot_once();
    site.reset("On");
    REQUIRE(eventually([&] { return !site.text("state/m1/root/format.out").empty(); }));
    CHECK(site.ask("/machines/m1")["boot"]["enabled"] == (keeps ? "Once" : "Disabled"));
  }
}

TEST_CASE("an account locks after failed logins only where that is a fault") {
  RunningSite site;
  auto fail = [&](int times) {
    for (int i = 0; i < times; ++i) CHECK(site.status("GET", kSystem, nullptr, "wrong") == 401);
  };
  fail(6);
  CHECK(site.ask("/machines/m1")["accounts"][0]["failed_logins"] == 6);
  CHECK(site.status("GET", kSystem) == 200);
  CHECK(site.ask("/machines/m1")["accounts"][0]["failed_logins"] == 0);
  site.fault({{"id", "A9"},
              {"on", "bmc"},
              {"action", "lockout"},
              {"count", -1},
              {"args", {{"after", 3}, {"seconds", 30}}}});
  fail(3);
  CHECK(site.status("GET", kSystem) == 401);
}

TEST_CASE("a process is killed after the effect and before its answer") {
  RunningSite site;
  pid_t victim = ::fork();
  if (victim == 0) {
    ::execlp("sleep", "sleep", "600", nullptr);
    ::_exit(127);
  }
  CHECK(site.control("POST", "/kill", {{"pid", victim}, {"effect", 2}}).status == 200);
  site.boot_once();
  int status = 0;
  CHECK(::waitpid(victim, &status, WNOHANG) == 0);
  site.reset("On");
  CHECK(::waitpid(victim, &status, 0) == victim);
  CHECK(WTERMSIG(status) == SIGKILL);
  CHECK(site.control("POST", "/kill", {{"pid", 999999}, {"effect", 1}}).status == 409);
}

TEST_CASE("the program stops what it started") {
  RunningSite site;
  site.arm();
  site.boot_once();
  site.reset("On");
  REQUIRE(site.comes_to_run("ramdisk"));
  pid_t pid = site.ask("/machines/m1")["ramdisk_pid"];
  CHECK(site.program->stop(SIGTERM) == 0);
  CHECK_FALSE(process_exists(pid));
}

TEST_CASE("the ramdisk goes down with a killed simulation") {
  RunningSite site;
  site.arm();
  site.boot_once();
  site.reset("On");
  REQUIRE(site.comes_to_run("ramdisk"));
  pid_t pid = site.ask("/machines/m1")["ramdisk_pid"];
  REQUIRE(eventually([&] { return !site.text("state/m1/root/format.out").empty(); }));
  std::vector<pid_t> members = session_members(pid);
  site.program->stop(SIGKILL);
  CHECK(eventually([&] { return !process_exists(pid); }));
  for (pid_t member : members) ::kill(member, SIGKILL);  // the script's sleep knew nothing of it
}

int run_shell(const std::string& command) {
  int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("curl speaks to the BMC with TLS 1.2 and 1.3") {
  RunningSite site;
  std::string url = site.facts["url"];
  for (const char* version : {"--tls-max 1.2", "--tlsv1.3"}) {
    INFO(version);
    std::string out = site.file("out.json");
    std::string curl = std::string("curl -s -k -f --max-time 10 ") + version + " -o " + out + " ";
    CHECK(run_shell(curl + "-u admin:factory-1 " + url + kSystem) == 0);
    CHECK(parse_json(site.text("out.json")).value()["Id"] == "1");
    CHECK(run_shell(curl + "-u admin:wrong " + url + kSystem) == 22);  // an HTTP error
  }
  CHECK(run_shell("curl -s --max-time 10 -o /dev/null " + url + "/redfish/v1/") == 60);
}

}  // namespace
}  // namespace leasehold::simsite
