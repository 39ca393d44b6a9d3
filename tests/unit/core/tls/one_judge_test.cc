// Looks at the source: X509_verify_cert has one caller in the product, and nobody else builds a
// verification of their own.
#include <catch2/catch.hpp>
#include <filesystem>

#include "core/base/files.h"

using namespace leasehold;

TEST_CASE("only the judge calls X509_verify_cert") {
  namespace fs = std::filesystem;
  fs::path root(LEASEHOLD_SOURCE_DIR);
  std::vector<std::string> callers;
  size_t files = 0;
  for (const char* room :
       {"core", "drivers", "firmware", "pxe", "agent", "coordinator", "simsite"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
      std::string extension = entry.path().extension().string();
      if (extension != ".cc" && extension != ".h") continue;
      ++files;
      std::string text = read_file(entry.path().string(), 1 << 20).value();
      for (const char* call : {"X509_verify_cert(", "X509_STORE_CTX_verify("}) {
        if (text.find(call) != std::string::npos) {
          callers.push_back(fs::relative(entry.path(), root).string());
        }
      }
    }
  }
  CHECK(files > 20);
  CHECK(callers == std::vector<std::string>{"core/tls/judge.cc"});
}
