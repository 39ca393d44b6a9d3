#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/tls/ca_files.h"
#include "core/tls/crypto.h"

using namespace leasehold;
namespace fs = std::filesystem;

namespace {

const std::set<std::string> kFiles = {
    "root.pem",        "root.key",        "issuing.pem",    "issuing.key",  "site-ca.pem",
    "site-ca.key",     "site-agent.pem",  "site-agent.key", "gateway.pem",  "gateway.key",
    "coordinator.pem", "coordinator.key", "operator.pem",   "operator.key", "site-cas.json"};

struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/leasehold-ca-init-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  std::string out() const { return path + "/ca"; }
  std::set<std::string> names(const std::string& folder) const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder)) {
      found.insert(entry.path().filename().string());
    }
    return found;
  }
};

SubprocessOutcome run(std::vector<std::string> argv) {
  return run_subprocess({std::move(argv), {}, 60'000}).value();
}

SubprocessOutcome leasehold_program(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), LEASEHOLD_BIN_DIR "/leasehold");
  return run(std::move(arguments));
}

SubprocessOutcome init(const std::string& out, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"ca",     "init", "--domain", "example.net",
                                        "--site", "s1",   "--out",    out};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return leasehold_program(arguments);
}

bool one_line(const std::string& text) {
  return !text.empty() && text.find('\n') == text.size() - 1;
}

Judgement judge_file(const Folder& folder, const std::string& pem, Verb verb,
                     const std::string& host = {}) {
  std::string out = folder.out();
  Anchors anchors = read_anchors(out + "/root.pem", out + "/site-cas.json", "example.net").value();
  return judge({pem_to_der(pem).value(), SystemClock().now_ms(), verb, host, false}, anchors);
}

}  // namespace

TEST_CASE("ca init makes its files, with the modes of what they are") {
  Folder folder;
  SubprocessOutcome outcome = init(folder.out());
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.find("KEEP root.key OFFLINE") != std::string::npos);
  CHECK(outcome.out.find("PRIVATE KEY") == std::string::npos);
  CHECK(folder.names(folder.path) == std::set<std::string>{"ca"});
  CHECK(folder.names(folder.out()) == kFiles);
  struct stat info {};
  REQUIRE(stat(folder.out().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  for (const std::string& name : kFiles) {
    REQUIRE(stat((folder.out() + "/" + name).c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == (name.ends_with(".key") ? 0600u : 0644u));
  }
}

TEST_CASE("the files of ca init pass the judge, and openssl verify") {
  Folder folder;
  REQUIRE(init(folder.out(), {"--gateway-dns", "gw.example.net", "--gateway-dns", "gw2.example.net",
                              "--gateway-ip", "127.0.0.1"})
              .exit_code == 0);
  auto leaf = [&](const std::string& name) {
    std::string base = folder.out() + "/" + name;
    return read_leaf(base + ".pem", base + ".key").value().certificate_chain_pem;
  };
  CHECK(judge_file(folder, leaf("site-agent"), Verb::kSignRun).allowed);
  CHECK(judge_file(folder, leaf("gateway"), Verb::kServeGateway, "gw2.example.net").allowed);
  CHECK(judge_file(folder, leaf("gateway"), Verb::kServeGateway, "127.0.0.1").allowed);
  CHECK_FALSE(
      judge_file(folder, leaf("gateway"), Verb::kServeGateway, "gateway.s1.example.net").allowed);
  CHECK(
      judge_file(folder, leaf("coordinator"), Verb::kSyncRows, "coordinator.example.net").allowed);
  const Judgement first = judge_file(folder, leaf("operator"), Verb::kCallApi);
  CHECK(first.allowed);
  CHECK(first.identity.uri() == "spiffe://example.net/operator/admin");
  for (const char* name : {"site-agent", "gateway", "coordinator", "operator"}) {
    std::string pem = folder.out() + "/" + name + ".pem";
    SubprocessOutcome outcome = run({"openssl", "verify", "-x509_strict", "-CAfile",
                                     folder.out() + "/root.pem", "-untrusted", pem, pem});
    INFO(outcome.out << outcome.err);
    CHECK(outcome.exit_code == 0);
  }
}

TEST_CASE("the site CA read from its files issues a ramdisk that both programs accept") {
  Folder folder;
  REQUIRE(init(folder.out()).exit_code == 0);
  CaKey site = read_ca_key(folder.out() + "/site-ca.pem", folder.out() + "/site-ca.key").value();
  LeafRequest request;
  request.identity =
      Identity::parse("spiffe://s1.example.net/node/n1/3/ramdisk/r-1", "example.net").value();
  request.csr_pem = make_csr(generate_key().private_key_pem).value();
  int64_t now_ms = SystemClock().now_ms();
  request.validity = {now_ms, now_ms + 3'600'000};
  std::string chain = issue_leaf(site, request).value();
  CHECK(judge_file(folder, chain, Verb::kAttest).allowed);
  std::string pem = folder.path + "/ramdisk.pem";
  REQUIRE(write_file_atomic(pem, chain, 0600).ok());
  CHECK(run({"openssl", "verify", "-x509_strict", "-CAfile", folder.out() + "/root.pem",
             "-untrusted", pem, pem})
            .exit_code == 0);
}

TEST_CASE("the gateway's name is gateway.SITE.DOMAIN unless it is given") {
  Folder folder;
  REQUIRE(init(folder.out()).exit_code == 0);
  std::string base = folder.out() + "/gateway";
  std::string pem = read_leaf(base + ".pem", base + ".key").value().certificate_chain_pem;
  CHECK(judge_file(folder, pem, Verb::kServeGateway, "gateway.s1.example.net").allowed);
  CHECK_FALSE(judge_file(folder, pem, Verb::kServeGateway, "127.0.0.1").allowed);
}

TEST_CASE("an authority is never overwritten") {
  Folder folder;
  REQUIRE(init(folder.out()).exit_code == 0);
  std::string before = read_file(folder.out() + "/root.key", 4096).value();
  SubprocessOutcome outcome = init(folder.out());
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.out.empty());
  CHECK(one_line(outcome.err));
  CHECK(outcome.err.find("never overwritten") != std::string::npos);
  CHECK(read_file(folder.out() + "/root.key", 4096).value() == before);
  CHECK(folder.names(folder.path) == std::set<std::string>{"ca"});
}

TEST_CASE("an empty folder is taken, with its mode put right") {
  Folder folder;
  fs::create_directory(folder.out());
  REQUIRE(init(folder.out() + "/").exit_code == 0);
  CHECK(folder.names(folder.out()) == kFiles);
  CHECK((fs::status(folder.out()).permissions() & fs::perms::all) == fs::perms::owner_all);
}

TEST_CASE("a failure leaves nothing behind") {
  Folder folder;
  // The last step fails: a folder cannot take the place of a file.
  REQUIRE(write_file_atomic(folder.out(), "", 0600).ok());
  SubprocessOutcome outcome = init(folder.out());
  CHECK(outcome.exit_code == 1);
  CHECK(one_line(outcome.err));
  CHECK(folder.names(folder.path) == std::set<std::string>{"ca"});
  CHECK(fs::is_regular_file(folder.out()));

  outcome = init(folder.path + "/none/ca");
  CHECK(outcome.exit_code == 1);
  CHECK(one_line(outcome.err));
  CHECK(outcome.err.find("the folder above it must exist") != std::string::npos);
}

TEST_CASE("wrong words are a usage error of one line, and make nothing") {
  Folder folder;
  auto usage = [&](const SubprocessOutcome& outcome) {
    INFO(outcome.out << outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK(one_line(outcome.err));
    CHECK(folder.names(folder.path).empty());
  };
  usage(init(folder.out(), {"--gateway-ip", "nowhere"}));
  usage(init(folder.out(), {"--gateway-dns", "*.example.net"}));
  usage(init(folder.out(), {"--colour"}));
  usage(leasehold_program({"ca", "init", "--domain", "example.net", "--site", "s1"}));
  usage(leasehold_program(
      {"ca", "init", "--domain", "Example.net", "--site", "s1", "--out", folder.out()}));
  usage(leasehold_program(
      {"ca", "init", "--domain", "example.net", "--site", "s_1", "--out", folder.out()}));
  usage(leasehold_program({"ca"}));
  usage(leasehold_program({}));
  usage(leasehold_program({"nonsense"}));
  CHECK(leasehold_program({"ca", "init", "--help"}).exit_code == 0);
}
