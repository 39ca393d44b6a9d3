// A machine made of files and shell scripts: a root folder with sys/, dev/ and etc/, and a folder
// of tools that stands alone on PATH before the system's. For the tests of this folder.
#pragma once

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/json.h"
#include "core/evidence/disk_wipe.h"
#include "pxe/ramdisk/sysroot.h"

namespace leasehold::test {

class FakeMachine {
 public:
  FakeMachine() : path_(::getenv("PATH")) {
    // Beside the test program, which is on a file system that knows O_DIRECT.
    std::string pattern = std::string(LEASEHOLD_BIN_DIR) + "/ramdisk-test-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder = pattern;
    std::filesystem::create_directories(folder + "/bin");
    std::filesystem::create_directories(folder + "/root/sys/block");
    std::filesystem::create_directories(folder + "/root/dev");
    ::setenv("PATH", (folder + "/bin:" + path_).c_str(), 1);
  }
  ~FakeMachine() {
    ::setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(folder);
  }
  FakeMachine(const FakeMachine&) = delete;
  FakeMachine& operator=(const FakeMachine&) = delete;

  Sysroot root() const { return Sysroot(folder + "/root"); }
  std::string device(const std::string& name) const { return folder + "/root/dev/" + name; }

  void file(const std::string& relative, const std::string& content) const {
    std::string path = folder + "/root/" + relative;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << content;
  }

  // A disk full of a tenant's bytes.
  ManifestEntry disk(const std::string& name, const std::string& serial,
                     size_t bytes = 4 << 20) const {
    std::string wwn = "eui." + serial;
    file("sys/block/" + name + "/size", std::to_string(bytes / 512) + "\n");
    file("sys/block/" + name + "/wwid", wwn + "\n");
    file("sys/block/" + name + "/device/serial", serial + "        \n");
    file("sys/block/" + name + "/device/model", "Model X      \n");
    std::string tenant;
    while (tenant.size() < bytes) tenant += "tenant bytes. ";
    file("dev/" + name, tenant.substr(0, bytes));
    return {serial, wwn, "Model X", static_cast<int64_t>(bytes), "nvme", HiddenAreas::kNone};
  }

  void tool(const std::string& name, const std::string& script) const {
    std::string path = folder + "/bin/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    ::chmod(path.c_str(), 0755);
  }

  // nvme with that Identify Controller and these branches of a `case "$1 $2..."`; $2 is the device.
  void nvme(const std::string& id_ctrl, const std::string& branches) const {
    tool("nvme", "echo \"$@\" >> '" + folder + "/nvme.calls'\n" +
                     "zero() { dd if=/dev/zero of=\"$1\" bs=1M count=4 conv=notrunc 2>&1; }\n" +
                     "case \"$1 $3\" in\n'id-ctrl '*) echo '" + id_ctrl + "';;\n" + branches +
                     "\n'list-ns '*) echo '{\"nsid_list\":[{\"nsid\":1}]}';;\n" +
                     "'version '*) echo 'nvme version 2.3 (git 2.3)';;\n" +
                     "*) echo 'Invalid Command Opcode'; exit 1;;\nesac");
  }
  std::string nvme_calls() const {
    std::ifstream in(folder + "/nvme.calls");
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  std::string folder;

 private:
  std::string path_;
};

// As QEMU's controller answers, with the three words that matter here.
inline std::string id_ctrl(int oacs, int fna, int sanicap, const std::string& more = "") {
  return "{\"sn\":\"S\",\"oacs\":" + std::to_string(oacs) + ",\"fna\":" + std::to_string(fna) +
         ",\"sanicap\":" + std::to_string(sanicap) +
         (more.empty() ? ",\"tnvmcap\":0,\"unvmcap\":0" : "," + more) + "}";
}

}  // namespace leasehold::test
