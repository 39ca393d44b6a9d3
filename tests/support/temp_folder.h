// A folder under the system's temporary folder that goes away with its owner. Tests only.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace leasehold::test {

class TempFolder {
 public:
  TempFolder() {
    std::string form = (std::filesystem::temp_directory_path() / "leasehold-test-XXXXXX").string();
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
