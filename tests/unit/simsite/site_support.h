// A running leasehold-simsite with a boot server of its own and a shell script for a ramdisk.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "core/base/bytes.h"
#include "core/base/files.h"
#include "core/curl/http_client.h"
#include "core/loop/http_server.h"
#include "core/tls/tls.h"
#include "tests/support/running_program.h"
#include "tests/support/temp_folder.h"

namespace leasehold::simsite {

using test::eventually;

// Serves files by path, as the provisioning network does, and remembers who asked for what.
class FakeBootd {
 public:
  FakeBootd() {
    HttpServerOptions options;
    options.tcp_host = "127.0.0.1";
    server_ = std::make_unique<HttpServer>(
        loop_, options,
        [this](const ServerRequest& request, Responder respond) { serve(request, respond); });
    started_ = server_->start().ok();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~FakeBootd() {
    loop_.post([this] { server_.reset(); });
    loop_.stop();
    thread_.join();
  }
  bool started() const { return started_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
  void put(const std::string& path, const std::string& content) {
    std::lock_guard<std::mutex> lock(mutex_);
    files_[path] = content;
  }
  std::vector<std::string> asked() {
    std::lock_guard<std::mutex> lock(mutex_);
    return asked_;
  }

 private:
  void serve(const ServerRequest& request, const Responder& respond) {
    std::lock_guard<std::mutex> lock(mutex_);
    asked_.push_back(request.method + " " + request.path);
    auto found = files_.find(request.path);
    HttpResponse response;
    response.status = found == files_.end() ? 404 : 200;
    if (found != files_.end()) response.body = found->second;
    respond(response);
  }

  Loop loop_;
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
  bool started_ = false;
  std::mutex mutex_;
  std::map<std::string, std::string> files_;
  std::vector<std::string> asked_;
};

// Formats the first disk as the real one does, then waits for its end in a child of its own.
inline const char* kFakeRamdisk = R"sh(#!/bin/sh
root="$2"
echo "console of $(cat "$root/proc/cmdline")"
nvme format "$root/dev/nvme0n1" --ses=1 --force > "$root/format.tmp" 2>&1
echo "exit $?" >> "$root/format.tmp"
mv "$root/format.tmp" "$root/format.out"
sleep 600
)sh";

constexpr const char* kMac = "52:54:00:77:00:01";
constexpr const char* kSystem = "/redfish/v1/Systems/1";
constexpr const char* kReset = "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset";
constexpr const char* kAccount = "/redfish/v1/AccountService/Accounts/2";

class RunningSite {
  test::TempFolder folder_;  // goes last

 public:
  explicit RunningSite(const Json& machine_changes = Json::object()) {
    write("password", "factory-1\n", 0600);
    write("ramdisk.sh", kFakeRamdisk, 0755);
    REQUIRE(make_folders(folder_.file("image/etc/leasehold"), 0755).ok());
    write("image/etc/leasehold/root.pem", "ROOT\n", 0644);
    Json machine = {{"name", "m1"},
                    {"mac", kMac},
                    {"bmc", {{"user", "admin"}, {"password_file", folder_.file("password")}}},
                    {"disks", Json::array({{{"serial", "SN001A"},
                                            {"wwn", "eui.0000000000000001"},
                                            {"model", "Example NVMe 4M"},
                                            {"size_mib", 4},
                                            {"content", "tenant"}}})},
                    {"gpus", Json::array({{{"serial", "1650"},
                                           {"uuid", "GPU-1"},
                                           {"pci", "00000000:17:00.0"},
                                           {"vbios", "96.00.5F"}}})},
                    {"firmware", {{"BMC", "1.12.0"}, {"BIOS", "2.4.1"}}}};
    machine.merge_patch(machine_changes);
    config_ = {{"state_dir", folder_.file("state")},
               {"control_socket", folder_.file("control.sock")},
               {"ramdisk_program", folder_.file("ramdisk.sh")},
               {"shims_dir", std::string(LEASEHOLD_BIN_DIR) + "/shims"},
               {"image_dir", folder_.file("image")},
               {"boot_url", bootd.url()},
               {"machines", Json::array({machine})}};
    write("config.json", dump_json(config_), 0644);
    program = std::make_unique<test::RunningProgram>(
        std::vector<std::string>{std::string(LEASEHOLD_BIN_DIR) + "/leasehold-simsite", "--config",
                                 folder_.file("config.json")},
        folder_.file("simsite.log"));
    INFO(program->log());
    REQUIRE_FALSE(program->await_event("program.started").is_null());
    std::string text = read_file(folder_.file("state/site.json"), 1 << 20).value();
    facts = parse_json(text).value()["machines"][0];
  }

  // Arms the network boot of m1.
  void arm() {
    bootd.put("/image/vmlinuz", "kernel");
    bootd.put("/image/r.img", std::string(300'000, 'i'));
    bootd.put(std::string("/boot/") + kMac,
              "#!ipxe\nkernel " + bootd.url() +
                  "/image/vmlinuz initrd=r.img quiet leasehold.run=" + bootd.url() +
                  "/run/b-1\ninitrd --name r.img " + bootd.url() + "/image/r.img\nboot\n");
  }

  Result<HttpResponse> redfish(const std::string& method, const std::string& path,
                               const Json& body = nullptr,
                               const std::string& password = "factory-1",
                               int64_t timeout_ms = 10'000) {
    HttpRequest request{method, facts["url"].get<std::string>() + path, {}, ""};
    request.headers.push_back({"Authorization", "Basic " + base64_encode("admin:" + password)});
    if (!body.is_null()) request.body = dump_json(body);
    HttpOptions options;
    options.timeout_ms = timeout_ms;
    options.tls.judge = pin_judge(facts["tls_pin"]);
    return client_.send(request, options);
  }
  int status(const std::string& method, const std::string& path, const Json& body = nullptr,
             const std::string& password = "factory-1") {
    Result<HttpResponse> response = redfish(method, path, body, password);
    return response.ok() ? response.value().status : -1;
  }
  std::string power() {
    return parse_json(redfish("GET", kSystem).value().body).value()["PowerState"];
  }
  void reset(const char* type) { CHECK(status("POST", kReset, {{"ResetType", type}}) == 204); }
  void boot_once() {
    CHECK(status("PATCH", kSystem,
                 {{"Boot",
                   {{"BootSourceOverrideTarget", "Pxe"},
                    {"BootSourceOverrideEnabled", "Once"}}}}) == 204);
  }

  HttpResponse control(const std::string& method, const std::string& path,
                       const Json& body = nullptr) {
    HttpRequest request{method, "http://simsite" + path, {}, ""};
    if (!body.is_null()) request.body = dump_json(body);
    HttpOptions options;
    options.unix_socket_path = folder_.file("control.sock");
    return client_.send(request, options).value();
  }
  Json ask(const std::string& path) { return parse_json(control("GET", path).body).value(); }
  std::string runs() { return ask("/machines/m1")["runs"]; }
  bool comes_to_run(const std::string& what) {
    return eventually([&] { return runs() == what; });
  }
  std::vector<std::string> effects() {
    std::vector<std::string> what;
    const Json answer = ask("/effects");
    for (const Json& effect : answer["effects"]) what.push_back(effect["what"]);
    return what;
  }
  void fault(const Json& rule) {
    HttpResponse response = control("POST", "/machines/m1/faults", rule);
    INFO(response.body);
    CHECK(response.status == 200);
  }
  int64_t hits(const std::string& id) {
    const Json answer = ask("/faults");
    for (const Json& rule : answer["faults"]) {
      if (rule["id"] == id) return rule["hits"];
    }
    return -1;
  }

  std::string file(const std::string& name) const { return folder_.file(name); }
  std::string text(const std::string& name) const {
    return read_file(folder_.file(name), 64 << 20).value_or("");
  }
  bool has_tenant() const {
    std::string bytes = read_file(facts["disks"][0]["path"], 64 << 20).value();
    return bytes.find("TENANT-SECRET-SN001A") != std::string::npos;
  }
  void write(const std::string& name, const std::string& content, mode_t mode) {
    std::ofstream(folder_.file(name)) << content;
    ::chmod(folder_.file(name).c_str(), mode);
  }

  FakeBootd bootd;
  std::unique_ptr<test::RunningProgram> program;
  Json facts;

 private:
  Json config_;
  CurlEasyClient client_;
};

// A zombie is gone: who reaps it is not our business.
inline bool process_exists(pid_t pid) {
  std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat", 4096).value_or("");
  size_t end = stat.rfind(')');
  return end != std::string::npos && stat.compare(end, 3, ") Z") != 0;
}

}  // namespace leasehold::simsite
