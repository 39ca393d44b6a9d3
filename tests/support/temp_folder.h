// A folder that goes away with its owner: under the system's temporary folder, or in memory where
// no test wants to wait for a disk. Tests only.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace leasehold::test {

class TempFolder {
 public:
  enum class Where { kDisk, kMemory };
  explicit TempFolder(Where where = Where::kDisk) {
    std::filesystem::path parent = std::filesystem::temp_directory_path();
    if (where == Where::kMemory && ::access("/dev/shm", W_OK) == 0) parent = "/dev/shm";
    std::string form = (parent / "leasehold-test-XXXXXX").string();
    if (::mkdtemp(form.data()) != nullptr) path_ = form;
  }
  ~TempFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace leasehold::test
