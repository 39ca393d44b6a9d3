#include "simsite/config.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/running_program.h"
#include "tests/support/temp_folder.h"

namespace leasehold::simsite {
namespace {

struct Files {
  test::TempFolder folder;
  Json site;
  Files() {
    std::ofstream(folder.file("password")) << "factory-1\n";
    std::filesystem::permissions(folder.file("password"), std::filesystem::perms(0600));
    site = {{"state_dir", folder.file("state")},
            {"control_socket", folder.file("control.sock")},
            {"ramdisk_program", "/bin/true"},
            {"shims_dir", std::string(LEASEHOLD_BIN_DIR) + "/shims"},
            {"image_dir", folder.file("image")},
            {"boot_url", "http://127.0.0.1:1/"},
            {"machines",
             Json::array(
                 {{{"name", "m1"},
                   {"mac", "52:54:00:77:00:01"},
                   {"bmc", {{"user", "admin"}, {"password_file", folder.file("password")}}}}})}};
  }
  Error refusal() {
    Result<SiteConfig> parsed = parse_site_config(site);
    REQUIRE_FALSE(parsed.ok());
    return parsed.error();
  }
  Json& machine() { return site["machines"][0]; }
};

TEST_CASE("a short description is enough") {
  Files files;
  SiteConfig config = parse_site_config(files.site).value();
  CHECK(config.boot_url == "http://127.0.0.1:1");
  CHECK(config.machines[0].bmc_password == "factory-1");
  CHECK_FALSE(config.machines[0].power_on);
}

TEST_CASE("an unknown key is refused with the nearest one") {
  Files files;
  files.machine()["disk"] = Json::array();
  Error error = files.refusal();
  CHECK(error.code == Code::kInvalidInput);
  CHECK(error.message ==
        "machines[0]: a machine has an unknown key \"disk\"; did you mean \"disks\"?");
}

TEST_CASE("what does not fit is refused with its field") {
  auto field = [](const std::function<void(Files&)>& spoil) {
    Files files;
    spoil(files);
    return files.refusal().field;
  };
  CHECK(field([](Files& f) { f.machine()["mac"] = "52-54-00-77-00-01"; }) == "mac");
  CHECK(field([](Files& f) { f.machine()["mac"] = "52:54:00:77:00:0G"; }) == "mac");
  CHECK(field([](Files& f) { f.machine()["name"] = "../m1"; }) == "name");
  CHECK(field([](Files& f) { f.machine()["power"] = "on"; }) == "power");
  CHECK(field([](Files& f) { f.machine()["profile"] = "idrac"; }) == "profile");
  CHECK(field([](Files& f) { f.machine()["bmc_port"] = 70000; }) == "bmc_port");
  CHECK(field([](Files& f) {
          f.machine()["disks"] = Json::array({{{"serial", "../../etc"}}});
        }) == "serial");
  CHECK(field([](Files& f) {
          f.machine()["disks"] = Json::array({{{"serial", "A"}}, {{"serial", "A"}}});
        }) == "disks");
  CHECK(field([](Files& f) {
          f.machine()["disks"] = Json::array({{{"serial", "A"}, {"size_mib", 0}}});
        }) == "size_mib");
  CHECK(field([](Files& f) { f.machine()["firmware"] = {{"BIOS", 2}}; }) == "firmware");
  CHECK(field([](Files& f) { f.site.erase("boot_url"); }) == "boot_url");
  CHECK(field([](Files& f) { f.site["machines"].push_back(f.machine()); }) == "machines");
}

TEST_CASE("a password file that others can read is refused") {
  Files files;
  std::filesystem::permissions(files.folder.file("password"), std::filesystem::perms(0644));
  CHECK(files.refusal().code == Code::kConfig);
}

TEST_CASE("the program ends with a word on what is wrong") {
  Files files;
  files.machine()["disk"] = Json::array();
  std::ofstream(files.folder.file("config.json")) << dump_json(files.site);
  test::RunningProgram program({std::string(LEASEHOLD_BIN_DIR) + "/leasehold-simsite", "--config",
                                files.folder.file("config.json")},
                               files.folder.file("log"));
  CHECK(program.wait() == 1);
  CHECK(program.log().find("did you mean \"disks\"?") != std::string::npos);
}

}  // namespace
}  // namespace leasehold::simsite
