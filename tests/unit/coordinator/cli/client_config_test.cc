#include "coordinator/cli/client_config.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/unit/coordinator/cli/fake_api.h"

namespace leasehold::test {
namespace {

struct Files {
  Pki pki = make_pki();
  KeyPair key = generate_key();
  BenchClock clock;
  TempFolder folder;
  Json config = {{"url", "https://coordinator.example.net:8440/"},
                 {"domain", "example.net"},
                 {"root_file", "root.pem"},
                 {"certificate_file", "operator.pem"},
                 {"private_key_file", "operator.key"}};

  Files() {
    write("root.pem", pki.root.certificate_pem);
    write("operator.pem", issue_leaf(pki.issuing, leaf_of(IdentityKind::kOperator, key)).value());
    write("operator.key", key.private_key_pem);
  }
  void write(const std::string& name, const std::string& text) {
    REQUIRE(write_file_atomic(folder.file(name), text, 0600).ok());
  }
  Result<ClientConfig> read() {
    write("config.json", dump_json(config));
    return read_client_config(folder.file("config.json"), clock);
  }
  // The error as it is told.
  std::string refused() {
    Result<ClientConfig> config_read = read();
    REQUIRE_FALSE(config_read.ok());
    CHECK(config_read.error().code == Code::kConfig);
    return config_read.error().text();
  }
};

}  // namespace

TEST_CASE("a configuration is read, its files beside it") {
  Files files;
  files.config["address"] = "127.0.0.1:8440";
  const ClientConfig config = files.read().value();
  CHECK(config.url == "https://coordinator.example.net:8440");
  CHECK(config.host == "coordinator.example.net");
  CHECK(config.address == "127.0.0.1:8440");
  CHECK(config.own.identity.uri() == "spiffe://example.net/operator/ann");
  files.config["url"] = "https://[::1]:8440";
  CHECK(files.read().value().host == "::1");
  const TrustConfig trust = read_trust_config(files.folder.file("config.json")).value();
  CHECK(trust.root_file == files.folder.file("root.pem"));
  CHECK(trust.domain == "example.net");
}

TEST_CASE("which configuration: the option, the environment, the home folder") {
  ::unsetenv("LEASEHOLD_CONFIG");
  const char* home = std::getenv("HOME");
  const std::string former = home == nullptr ? "" : home;
  ::setenv("HOME", "/home/ann", 1);
  CHECK(client_config_path("") == "/home/ann/.config/leasehold/config.json");
  ::setenv("LEASEHOLD_CONFIG", "/etc/x.json", 1);
  CHECK(client_config_path("") == "/etc/x.json");
  CHECK(client_config_path("mine.json") == "mine.json");
  ::unsetenv("LEASEHOLD_CONFIG");
  ::setenv("HOME", former.c_str(), 1);
}

TEST_CASE("a configuration that cannot work says which file, and what to do") {
  Files files;
  SECTION("there is none") {
    const Error error = read_client_config(files.folder.file("none.json"), files.clock).error();
    CHECK(error.code == Code::kConfig);
    CHECK(has(error.message, "there is no configuration " + files.folder.file("none.json")));
    CHECK(has(error.message, "--config"));
  }
  SECTION("a member is missing") {
    files.config.erase("root_file");
    CHECK(has(files.refused(), "needs \"root_file\""));
  }
  SECTION("a member is not known") {
    files.config["root_fil"] = "root.pem";
    CHECK(has(files.refused(), "root_file"));  // the nearest
  }
  SECTION("not https") {
    files.config["url"] = "http://coordinator.example.net";
    CHECK(has(files.refused(), "https://HOST:PORT"));
  }
  SECTION("a path behind the port") {
    files.config["url"] = "https://coordinator.example.net:8440/v1";
    CHECK(has(files.refused(), "https://HOST:PORT"));
  }
  SECTION("the root of somebody else") {
    files.write("root.pem", make_pki().root.certificate_pem);
    CHECK(has(files.refused(), "does not come from the root in " + files.folder.file("root.pem")));
  }
  SECTION("an expired certificate") {
    files.clock.sleep_ms(48 * kHour);
    CHECK(has(files.refused(), "has expired at 2026-11-30T12:00:00.000Z"));
  }
  SECTION("a certificate of the future") {
    files.clock.sleep_ms(-48 * kHour);
    CHECK(has(files.refused(), "clock"));
  }
  SECTION("a coordinator's certificate") {
    files.write(
        "operator.pem",
        issue_leaf(files.pki.issuing, leaf_of(IdentityKind::kCoordinator, files.key)).value());
    CHECK(has(files.refused(), "must be an operator's or a tenant's"));
  }
  SECTION("another key") {
    files.write("operator.key", generate_key().private_key_pem);
    CHECK(has(files.refused(), "operator.key"));
  }
  SECTION("a key that others can read") {
    files.read().value();
    REQUIRE(::chmod(files.folder.file("operator.key").c_str(), 0644) == 0);
    CHECK(has(files.refused(), "operator.key"));
  }
}

}  // namespace leasehold::test
