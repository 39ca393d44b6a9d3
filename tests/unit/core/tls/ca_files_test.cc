#include "core/tls/ca_files.h"

#include <catch2/catch.hpp>

#include "tests/unit/core/tls/files_folder.h"
#include "tests/unit/core/tls/pki.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {}  // namespace

TEST_CASE("an authority is read back as it was issued") {
  Pki pki;
  FilesFolder folder;
  std::string pem = folder.write("s1.pem", pki.s1.certificate_pem + pki.s1.chain_above_pem);
  std::string key = folder.write("s1.key", pki.s1.private_key_pem);
  CaKey read = read_ca_key(pem, key).value();
  CHECK(read.certificate_pem == pki.s1.certificate_pem);
  CHECK(read.private_key_pem == pki.s1.private_key_pem);
  CHECK(read.chain_above_pem == pki.s1.chain_above_pem);
}

TEST_CASE("an authority's files are refused with what to do about them") {
  Pki pki;
  FilesFolder folder;
  std::string pem = folder.write("s1.pem", pki.s1.certificate_pem);
  std::string key = folder.write("s1.key", pki.s1.private_key_pem);
  auto refused = [](const Result<CaKey>& result, Code code, const std::string& part) {
    REQUIRE_FALSE(result.ok());
    INFO(result.error().text());
    CHECK(result.error().code == code);
    CHECK(result.error().message.find(part) != std::string::npos);
  };
  refused(read_ca_key(pem, folder.write("other.key", pki.s2.private_key_pem)), Code::kConfig,
          "other.key: is not the key");
  refused(read_ca_key(pem, folder.write("open.key", pki.s1.private_key_pem, 0644)), Code::kConfig,
          "chmod 600");
  refused(read_ca_key(pem, folder.write("junk.key", "junk")), Code::kConfig, "junk.key");
  refused(read_ca_key(folder.write("junk.pem", "junk"), key), Code::kConfig, "junk.pem");
  refused(read_ca_key(folder.file("none.pem"), key), Code::kIo, "none.pem");
  std::string leaf = folder.write("leaf.pem", der_to_pem(chain_for(pki, IdentityKind::kNode)[0]));
  refused(read_ca_key(leaf, folder.write("leaf.key", pki.key.private_key_pem)), Code::kConfig,
          "leaf.pem: does not begin with a certificate authority");
}

TEST_CASE("a leaf is read with its chain and its own key") {
  Pki pki;
  FilesFolder folder;
  LeafRequest request = request_for(pki, identity_of(IdentityKind::kGateway));
  std::string chain = issue_leaf(pki.issuing, request).value();
  std::string pem = folder.write("g.pem", chain);
  LeafFiles read = read_leaf(pem, folder.write("g.key", pki.key.private_key_pem)).value();
  CHECK(read.certificate_chain_pem == chain);
  CHECK(read.private_key_pem == pki.key.private_key_pem);
  std::string other = folder.write("o.key", pki.s1.private_key_pem);
  CHECK(read_leaf(pem, other).error().code == Code::kConfig);
}

TEST_CASE("anchors are the root and the recorded site CAs") {
  Pki pki;
  FilesFolder folder;
  Anchors expected = pki.anchors();
  std::string root = folder.write("root.pem", pki.root.certificate_pem);
  Json recorded = Json::object();
  for (const auto& [site, digest] : expected.site_cas) recorded[site] = Json::array({digest});
  std::string file = folder.write("site-cas.json", dump_json(recorded));
  Anchors read = read_anchors(root, file, kDomain).value();
  CHECK(read.root_pem == expected.root_pem);
  CHECK(read.domain == kDomain);
  CHECK(read.site_cas == expected.site_cas);
  CHECK(read_anchors(root, "", kDomain).value().site_cas.empty());

  const std::string digest(64, 'a');
  for (const std::string& text :
       {std::string("[]"), std::string("junk"), std::string(R"({"S1": []})"),
        std::string(R"({"s1": "x"})"), std::string(R"({"s1": ["abc"]})"),
        std::string(R"({"s1": [7]})"), R"({"s1": [")" + std::string(64, 'A') + R"("]})",
        R"({"s1": [")" + digest + R"("], "s1": []})"}) {
    INFO(text);
    Result<Anchors> result = read_anchors(root, folder.write("bad.json", text), kDomain);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().code == Code::kConfig);
    CHECK(result.error().message.find("bad.json") != std::string::npos);
  }
  std::string issuing = folder.write("issuing.pem", pki.issuing.certificate_pem);
  CHECK(read_anchors(issuing, "", kDomain).error().code == Code::kConfig);
  std::string two = folder.write("two.pem", pki.root.certificate_pem + pki.issuing.certificate_pem);
  CHECK(read_anchors(two, "", kDomain).error().code == Code::kConfig);
  CHECK(read_anchors(root, "", "Example.net").error().code == Code::kConfig);
}
