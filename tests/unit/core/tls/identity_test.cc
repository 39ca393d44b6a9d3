#include "core/tls/identity.h"

#include <catch2/catch.hpp>

#include "tests/unit/core/tls/pki.h"

using namespace leasehold;
using namespace leasehold::test;

TEST_CASE("every kind of identity has its URI, and reads back as it was") {
  const std::vector<std::string> expected = {"spiffe://s1.example.net/node/n1/7/ramdisk/r-1",
                                             "spiffe://s1.example.net/node/n1/7/node-tenant",
                                             "spiffe://s1.example.net/node/n1/7/node",
                                             "spiffe://s1.example.net/site-agent",
                                             "spiffe://s1.example.net/gateway",
                                             "spiffe://example.net/coordinator/ann",
                                             "spiffe://example.net/operator/ann",
                                             "spiffe://example.net/tenant/acme/ann"};
  for (size_t i = 0; i < expected.size(); ++i) {
    Identity identity = identity_of(all_kinds()[i]);
    CHECK(identity.uri() == expected[i]);
    CHECK(Identity::parse(expected[i], kDomain).value() == identity);
  }
}

TEST_CASE("a URI that is not exactly one of the forms is malformed") {
  const std::vector<std::string> refused = {
      "",
      "spiffe://",
      "spiffe:///gateway",
      "https://s1.example.net/gateway",
      "SPIFFE://s1.example.net/gateway",
      "spiffe://s1.example.net",
      "spiffe://s1.example.net/",
      "spiffe://s1.example.net/gateway/",
      "spiffe://s1.example.net//gateway",
      "spiffe://s1.example.net/Gateway",
      "spiffe://s1.example.net/gateway?x",
      "spiffe://s1.example.net/gateway#x",
      "spiffe://s1.example.net/gateway ",
      "spiffe://s1.example.net:443/gateway",
      "spiffe://u@s1.example.net/gateway",
      "spiffe://S1.example.net/gateway",
      "spiffe://s1.example.org/gateway",
      "spiffe://s1.example.net.evil.org/gateway",
      "spiffe://s1example.net/gateway",
      "spiffe://.example.net/gateway",
      "spiffe://a.s1.example.net/gateway",
      "spiffe://-s1.example.net/gateway",
      "spiffe://example.net/gateway",
      "spiffe://example.net/site-agent",
      "spiffe://example.net/node/n1/7/node",
      "spiffe://s1.example.net/operator/ann",
      "spiffe://s1.example.net/coordinator/c1",
      "spiffe://example.net/operator",
      "spiffe://example.net/operator/",
      "spiffe://example.net/operator/ann/x",
      "spiffe://example.net/tenant/acme",
      "spiffe://example.net/tenant/acme/ann/x",
      "spiffe://example.net/tenant//ann",
      "spiffe://s1.example.net/node/n1/7",
      "spiffe://s1.example.net/node/n1/7/",
      "spiffe://s1.example.net/node/n1/7/gateway",
      "spiffe://s1.example.net/node/n1/7/node/r-1",
      "spiffe://s1.example.net/node/n1/7/node-tenant/r-1",
      "spiffe://s1.example.net/node/n1/7/ramdisk",
      "spiffe://s1.example.net/node/n1/7/ramdisk/",
      "spiffe://s1.example.net/node/n1/7/ramdisk/r-1/x",
      "spiffe://s1.example.net/node/n1/7/ramdisk/R-1",
      "spiffe://s1.example.net/node//7/node",
      "spiffe://s1.example.net/node/n%31/7/node",
      "spiffe://s1.example.net/node/n1//node",
      "spiffe://s1.example.net/node/n1/07/node",
      "spiffe://s1.example.net/node/n1/+7/node",
      "spiffe://s1.example.net/node/n1/-7/node",
      "spiffe://s1.example.net/node/n1/7x/node",
      "spiffe://s1.example.net/node/n1/9223372036854775808/node",
      "spiffe://s1.example.net/node/" + std::string(64, 'n') + "/7/node",
      std::string("spiffe://s1.example.net/gateway\0", 32)};
  for (const std::string& uri : refused) {
    INFO(uri);
    Result<Identity> identity = Identity::parse(uri, kDomain);
    REQUIRE_FALSE(identity.ok());
    CHECK(identity.error().code == Code::kMalformed);
  }
  CHECK_FALSE(Identity::parse("spiffe://s1./gateway", "").ok());
}

TEST_CASE("generations go to the end of their type") {
  std::string uri = "spiffe://s1.example.net/node/n1/9223372036854775807/node";
  CHECK(Identity::parse(uri, kDomain).value().generation == INT64_MAX);
  CHECK(Identity::parse("spiffe://s1.example.net/node/n1/0/node", kDomain).value().uri() ==
        "spiffe://s1.example.net/node/n1/0/node");
}

TEST_CASE("host names are lower case, of whole labels, without wildcards") {
  for (const char* good : {"a", "example.net", "gateway.s1.example.net", "1.2", "a-b.c"}) {
    CHECK(is_valid_host_name(good));
  }
  for (const char* bad : {"", ".", "a.", ".a", "a..b", "*.a", "A", "-a", "a-", "a_b", "a b"}) {
    CHECK_FALSE(is_valid_host_name(bad));
  }
  CHECK_FALSE(is_valid_host_name(std::string(64, 'a')));
}
