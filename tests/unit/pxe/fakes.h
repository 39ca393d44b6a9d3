// What the tests of pxe share: a clock that the test moves, a folder of images, an arming.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/clock.h"
#include "pxe/boot_table.h"

namespace leasehold {

class FakeClock : public Clock {
 public:
  int64_t now_ms() override { return 1'796'000'000'000 + monotonic; }
  int64_t monotonic_ms() override { return monotonic; }
  void sleep_ms(int64_t duration_ms) override { monotonic += duration_ms; }
  int64_t monotonic = 5'000;
};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/leasehold-pxe-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(path + "/" + name, std::ios::binary) << content;
    return path + "/" + name;
  }
  std::string path;
};

inline Arming an_arming(const std::string& mac, const std::string& boot) {
  return {mac, boot, "vmlinuz", "ramdisk.img", "console=ttyS0", R"({"token":"c2VjcmV0"})", 900};
}

}  // namespace leasehold
