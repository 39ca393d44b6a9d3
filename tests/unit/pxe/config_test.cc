#include "pxe/config.h"

#include <catch2/catch.hpp>

#include "core/base/json.h"
#include "tests/unit/pxe/fakes.h"

namespace leasehold {
namespace {

Json a_config(const TemporaryFolder& folder) {
  return {{"control_socket", folder.path + "/s"},
          {"control_uids", {0, 1001}},
          {"listen_host", "127.0.0.1"},
          {"listen_port", 0},
          {"image_dir", folder.path}};
}

TEST_CASE("a configuration is read whole") {
  TemporaryFolder folder;
  BootdConfig config = read_bootd_config(folder.file("c", a_config(folder).dump())).value();
  CHECK(config.control_uids == std::vector<int64_t>{0, 1001});
  CHECK(config.image_dir == folder.path);
  CHECK(public_url_of(config, 8080) == "http://127.0.0.1:8080");
  config.listen_host = "fd00::1";
  CHECK(public_url_of(config, 8080) == "http://[fd00::1]:8080");
  config.public_url = "http://10.0.0.1";
  CHECK(public_url_of(config, 8080) == "http://10.0.0.1");
}

TEST_CASE("a wrong configuration names its file, its key and the nearest one") {
  TemporaryFolder folder;
  auto error_with = [&](const char* key, const Json& value) {
    Json json = a_config(folder);
    json[key] = value;
    Result<BootdConfig> config = read_bootd_config(folder.file("c", json.dump()));
    REQUIRE_FALSE(config.ok());
    CHECK(config.error().code == Code::kConfig);
    CHECK(config.error().message.find(folder.path + "/c") == 0);
    CHECK(config.error().field == key);
    return config.error().message;
  };
  CHECK(error_with("image_dri", "x").find("did you mean \"image_dir\"") != std::string::npos);
  error_with("control_uids", Json::array());
  error_with("control_uids", {-1});
  error_with("control_uids", {"root"});
  error_with("listen_port", 65'536);
  error_with("listen_host", 5);
  error_with("public_url", "https://10.0.0.1");
  error_with("public_url", "http://a\nb");
  CHECK(error_with("image_dir", "/nothing-here").find("/nothing-here") != std::string::npos);
  CHECK(read_bootd_config("/nothing-here").error().code == Code::kConfig);
}

}  // namespace
}  // namespace leasehold
