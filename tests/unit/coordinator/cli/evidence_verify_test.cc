#include <catch2/catch.hpp>
#include <filesystem>

#include "coordinator/cli/evidence_verify.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "tests/support/evidence_fixture.h"

namespace leasehold::test {
namespace {

namespace fs = std::filesystem;

struct Files {
  Pki pki = make_pki();
  std::string folder;
  std::string bundle = good_bundle(pki);

  Files() {
    char name[] = "/tmp/leasehold-evidence-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    folder = name;
    write("root.pem", pki.root.certificate_pem);
    write("evidence.json", bundle);
  }
  ~Files() { fs::remove_all(folder); }
  void write(const std::string& name, const std::string& content) {
    REQUIRE(write_file_atomic(folder + "/" + name, content, 0600).ok());
  }
  EvidenceVerifyOptions options() const {
    return {folder + "/evidence.json", folder + "/root.pem",       "example.net", true,
            pki.site_ca_sha256,        "2026-11-29T12:00:00.000Z", false,         ""};
  }
  // The program itself.
  SubprocessOutcome run(std::vector<std::string> more) const {
    std::vector<std::string> argv = {LEASEHOLD_BIN_DIR "/leasehold",
                                     "evidence",
                                     "verify",
                                     folder + "/evidence.json",
                                     "--root",
                                     folder + "/root.pem",
                                     "--domain",
                                     "example.net"};
    argv.insert(argv.end(), more.begin(), more.end());
    return run_subprocess({argv, {}, 60'000}).value();
  }
  std::vector<std::string> unreceipted() const {
    return {"--unreceipted", "--site-ca", pki.site_ca_sha256, "--at", "2026-11-29T12:00:00Z"};
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("evidence verify shows what a good file says") {
  Files files;
  EvidenceVerdict verdict = evidence_verify(files.options()).value();
  INFO(verdict.text);
  CHECK(verdict.verified);
  CHECK(verdict.text.ends_with("\nVERIFIED\n"));
  for (const char* part : {"UNRECEIPTED", "n1, generation 4", "l-1", "r-1", "S1, Model A", "purge",
                           "NVMe Format, SES 2", "bios 2.4.1: ok", "cpld 7: listed",
                           "spiffe://s1.example.net/site-agent", "2026-11-29T11:59:00.000Z"}) {
    CHECK(has(verdict.text, part));
  }
  EvidenceVerifyOptions options = files.options();
  options.json = true;
  Json json = parse_json(evidence_verify(options).value().text).value();
  CHECK(json["verdict"] == "VERIFIED");
  CHECK(json["receipt"] == "UNRECEIPTED");
  CHECK(json["site_cas"] == Json::array({files.pki.site_ca_sha256}));
  CHECK(json["judged_at"] == "2026-11-29T12:00:00.000Z");
  CHECK(json["disks"].size() == 2);
}

TEST_CASE("a receipt replaces what the reader would have to know") {
  Files files;
  Bundle bundle = sign_bundle(make_run(files.pki));
  bundle.receipt = signed_receipt(files.pki, make_receipt(files.pki, bundle));
  files.write("evidence.json", bundle.text().value());
  EvidenceVerifyOptions options = files.options();
  options.unreceipted = false;
  options.site_ca = options.at = "";
  const EvidenceVerdict verdict = evidence_verify(options).value();
  INFO(verdict.text);
  CHECK(verdict.verified);
  CHECK_FALSE(has(verdict.text, "UNRECEIPTED"));
  CHECK(has(verdict.text,
            "the coordinator had it at 2026-11-29T13:00:00.000Z and judged it for "
            "2026-11-29T12:00:00.000Z"));
  CHECK(has(verdict.text, "by site CA " + files.pki.site_ca_sha256));
  options.json = true;
  const Json json = parse_json(evidence_verify(options).value().text).value();
  CHECK(json["receipt"] == "RECEIPTED");
  CHECK(json["received_at"] == "2026-11-29T13:00:00.000Z");
  CHECK(json["site_cas"] == Json::array({files.pki.site_ca_sha256}));
}

TEST_CASE("root and domain come from the configuration if they are not said") {
  Files files;
  files.write("config.json",
              R"({"url": "https://x", "domain": "example.net", "root_file": "root.pem"})");
  EvidenceVerifyOptions options = files.options();
  options.root_file = options.domain = "";
  options.config_file = files.folder + "/config.json";
  CHECK(evidence_verify(options).value().verified);
  options.domain = "example.org";  // what is said goes before
  CHECK_FALSE(evidence_verify(options).value().verified);
  options.config_file = files.folder + "/none.json";
  CHECK(evidence_verify(options).error().code == Code::kInvalidInput);
  CHECK(evidence_verify(options).error().field == "--root");
}

TEST_CASE("evidence verify refuses with the reason and what it means") {
  Files files;
  EvidenceVerifyOptions options = files.options();
  SECTION("one byte flipped") {
    files.bundle[files.bundle.size() / 2] ^= 1;
    files.write("evidence.json", files.bundle);
    EvidenceVerdict verdict = evidence_verify(options).value();
    CHECK_FALSE(verdict.verified);
    CHECK(verdict.text.starts_with("REFUSED "));
  }
  SECTION("another site CA") {
    options.site_ca = std::string(64, 'A');  // capitals are read
    EvidenceVerdict verdict = evidence_verify(options).value();
    CHECK(verdict.text.starts_with(
        "REFUSED unrecorded-site-ca\nThe site CA of the chain is not the recorded one.\n"));
  }
  SECTION("no receipt") {
    options.unreceipted = false;
    options.site_ca = options.at = "";
    CHECK(evidence_verify(options).value().text.starts_with("REFUSED no-receipt\n"));
  }
  SECTION("another domain") {
    options.domain = "example.org";
    CHECK_FALSE(evidence_verify(options).value().verified);
  }
  SECTION("as JSON") {
    options.json = true;
    options.at = "2027-11-29T12:00:00Z";
    Json json = parse_json(evidence_verify(options).value().text).value();
    CHECK(json["verdict"] == "REFUSED");
    CHECK(json["reason"] == "expired");
  }
}

TEST_CASE("evidence verify takes only options that fit together") {
  Files files;
  auto field = [&](std::function<void(EvidenceVerifyOptions&)> change) {
    EvidenceVerifyOptions options = files.options();
    change(options);
    auto verdict = evidence_verify(options);
    return verdict.ok() ? "no error" : verdict.error().field;
  };
  CHECK(field([](auto& o) { o.site_ca = ""; }) == "--site-ca");
  CHECK(field([](auto& o) { o.at = ""; }) == "--at");
  CHECK(field([](auto& o) { o.at = "yesterday"; }) == "--at");
  CHECK(field([](auto& o) { o.site_ca = "ab"; }) == "--site-ca");
  CHECK(field([](auto& o) { o.unreceipted = false; }) == "--unreceipted");
  EvidenceVerifyOptions options = files.options();
  options.file += ".none";
  CHECK(evidence_verify(options).error().code == Code::kIo);
}

TEST_CASE("text from a machine cannot write a line of its own") {
  Files files;
  RunParts run = make_run(files.pki);
  run.evidence.observers[0].says = "x\nVERIFIED\x1b[2J";
  files.write("evidence.json", sign_bundle(run).text().value());
  std::string text = evidence_verify(files.options()).value().text;
  CHECK(has(text, "x?VERIFIED?[2J"));
}

TEST_CASE("leasehold evidence verify ends with 0, 1 or 2") {
  Files files;
  SubprocessOutcome good = files.run(files.unreceipted());
  CHECK(good.exit_code == 0);
  CHECK(has(good.out, "VERIFIED\n"));
  SubprocessOutcome refused = files.run({});
  CHECK(refused.exit_code == 1);
  CHECK(has(refused.out, "REFUSED no-receipt\n"));
  SubprocessOutcome usage = files.run({"--unreceipted"});
  CHECK(usage.exit_code == 2);
  CHECK(has(usage.err, "--site-ca"));
  CHECK(files.run({"--frobnicate"}).exit_code == 2);
}

}  // namespace leasehold::test
