// A temporary folder to write PEM files into. Tests only.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "core/base/files.h"
#include "tests/support/temp_folder.h"

namespace leasehold::test {

struct FilesFolder : TempFolder {
  // The file's path.
  std::string write(const std::string& name, const std::string& content, mode_t mode = 0600) const {
    const std::string path = file(name);
    REQUIRE(write_file_atomic(path, content, mode).ok());
    return path;
  }
};

}  // namespace leasehold::test
