// RedfishBmc over real TLS against the real leasehold-simsite: what the fakes beside this file
// leave open, namely that both understand the wire alike, and the pin.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "core/base/files.h"
#include "core/curl/http_client.h"
#include "drivers/redfish/redfish_bmc.h"
#include "tests/support/running_program.h"
#include "tests/support/temp_folder.h"

using namespace leasehold;
using test::eventually;

namespace {

const std::string kOld = "old-Secret.1";
const std::string kNew = "new-Secret.2";

class SimulatedBmc {
 public:
  SimulatedBmc() {
    std::ofstream(folder_.file("password")) << kOld << "\n";
    ::chmod(folder_.file("password").c_str(), 0600);
    Json machine = {{"name", "n1"},
                    {"mac", "52:54:00:77:00:10"},
                    {"bmc", {{"user", "admin"}, {"password_file", folder_.file("password")}}},
                    {"power", "On"},
                    {"disks", Json::array({{{"serial", "D1"}, {"size_mib", 1}}})},
                    {"firmware", {{"BMC", "1.12.0"}, {"BIOS", "2.4.1"}}}};
    Json config = {
        {"state_dir", folder_.file("state")}, {"control_socket", folder_.file("control")},
        {"ramdisk_program", "/bin/true"},     {"shims_dir", folder_.path()},
        {"image_dir", folder_.path()},        {"boot_url", "http://127.0.0.1:1"},
        {"machines", Json::array({machine})}};
    std::ofstream(folder_.file("config.json")) << dump_json(config);
    program_ = std::make_unique<test::RunningProgram>(
        std::vector<std::string>{std::string(LEASEHOLD_BIN_DIR) + "/leasehold-simsite", "--config",
                                 folder_.file("config.json")},
        folder_.file("log"));
    eventually([this] { return read_address(); }, 20'000);
  }

  BmcAddress address;
  CurlEasyClient http;
  SystemClock clock;

  std::unique_ptr<Bmc> open(const std::string& password) {
    return RedfishBmcFactory(http, clock).open(address, {"admin", password});
  }
  std::string log() const { return program_->log(); }

  Json control(const std::string& method, const std::string& path, const Json& body = nullptr) {
    HttpRequest request;
    request.method = method;
    request.url = "http://simsite" + path;
    if (!body.is_null()) {
      request.body = dump_json(body);
      request.headers = {{"Content-Type", "application/json"}};
    }
    HttpOptions options;
    options.unix_socket_path = folder_.file("control");
    auto answer = http.send(request, options);
    REQUIRE(answer.ok());
    REQUIRE(answer.value().status < 300);
    return parse_json(answer.value().body).value_or(Json());
  }

 private:
  bool read_address() {
    auto text = read_file(folder_.file("state/site.json"), limits::kConfigBytes);
    auto site = text.ok() ? parse_json(text.value()) : Result<Json>(Json());
    if (!site.ok()) return false;
    const Json& machines = json_member(site.value(), "machines");
    if (!machines.is_array() || machines.empty()) return false;
    address = {json_text(machines[0], "url"), json_text(machines[0], "tls_pin")};
    return true;
  }

  test::TempFolder folder_;
  std::unique_ptr<test::RunningProgram> program_;
};

}  // namespace

TEST_CASE("simsite: power, boot override and inventory over real TLS with a pin") {
  SimulatedBmc site;
  REQUIRE_FALSE(site.address.url.empty());
  auto bmc = site.open(kOld);
  CHECK(bmc->power_state().value() == PowerState::kOn);

  BootOverride pxe{BootSourceOverrideTarget::kPxe, BootSourceOverrideEnabled::kOnce};
  Status set = bmc->set_boot_override(pxe);
  INFO((set.ok() ? "" : set.error().text()));
  CHECK(set.ok());
  CHECK(bmc->boot_override().value().target == BootSourceOverrideTarget::kPxe);
  CHECK(bmc->set_boot_override({}).ok());
  CHECK(bmc->boot_override().value().enabled == BootSourceOverrideEnabled::kDisabled);

  CHECK(bmc->reset(ResetType::kForceOff).ok());
  CHECK(eventually([&] { return bmc->power_state().value() == PowerState::kOff; }));
  CHECK(bmc->reset(ResetType::kForceOff).ok());

  auto inventory = bmc->firmware_inventory().value();
  CHECK(inventory.complete);
  std::map<std::string, std::string> versions;
  for (const FirmwareItem& item : inventory.items) versions[item.id] = item.version;
  CHECK(versions == std::map<std::string, std::string>{{"BIOS", "2.4.1"}, {"BMC", "1.12.0"}});
}

TEST_CASE("simsite: another pin is refused before anything is sent") {
  SimulatedBmc site;
  site.address.tls_pin = std::string(64, '0');
  CHECK(site.open(kOld)->power_state().error().code == Code::kUnavailable);
}

TEST_CASE("simsite: a rotation, also one whose answer never comes (A12)") {
  SimulatedBmc site;
  bool lost = GENERATE(false, true);
  if (lost) {
    site.control("POST", "/machines/n1/faults",
                 {{"id", "A12"},
                  {"on", "bmc"},
                  {"method", "PATCH"},
                  {"path", "/redfish/v1/AccountService/Accounts/*"},
                  {"action", "apply-without-reply"}});
  }
  {
    auto old = site.open(kOld);
    Status changed = old->set_password("admin", kNew);
    CHECK(changed.ok() != lost);
    if (lost) CHECK(changed.error().code == Code::kMalformed);
  }
  auto bmc = site.open(kNew);
  CHECK(bmc->credential_works({"admin", kNew}).value());
  CHECK_FALSE(bmc->credential_works({"admin", kOld}).value());
  CHECK(bmc->accounts().value().front().user_name == "admin");
  CHECK(bmc->delete_other_sessions().ok());
  CHECK(site.open(kOld)->power_state().error().code == Code::kCredentialRefused);
  CHECK(site.log().find(kNew) == std::string::npos);
}
