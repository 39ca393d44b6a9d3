// Who a certificate speaks for: one SPIFFE URI SAN, read and written here only (docs/protocols.md).
// A site is a *host* of the URI, because X.509 name constraints work on hosts:
//   spiffe://<site>.<domain>/node/<node>/<generation>/ramdisk/<run>     (platform ramdisk of one
//   run) spiffe://<site>.<domain>/node/<node>/<generation>/node-tenant       (a lessee's OS)
//   spiffe://<site>.<domain>/node/<node>/<generation>/node              (node under platform trust)
//   spiffe://<site>.<domain>/site-agent    spiffe://<site>.<domain>/gateway
//   spiffe://<domain>/coordinator/<name>   spiffe://<domain>/operator/<name>
//   spiffe://<domain>/tenant/<tenant>/<name>
// Values only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace leasehold {

enum class IdentityKind {
  kRamdisk,
  kNodeTenant,
  kNode,
  kSiteAgent,
  kGateway,
  kCoordinator,
  kOperator,
  kTenant
};
std::string_view kind_name(IdentityKind kind);  // "ramdisk", "node-tenant", "site-agent", ...

// A host or domain name as we write them: lower case, labels of 1 to 63 of [a-z0-9-] that neither
// start nor end with '-', 253 characters at most, no wildcard, no final dot.
bool is_valid_host_name(std::string_view text);

struct Identity {
  IdentityKind kind = IdentityKind::kTenant;
  std::string domain;      // "example.net"
  std::string site;        // kinds of a site; else empty
  std::string node;        // node kinds
  int64_t generation = 0;  // node kinds
  std::string run;         // ramdisk
  std::string tenant;      // tenant
  std::string name;        // coordinator, operator, tenant

  std::string uri() const;
  // `domain` says where the site's label ends. MALFORMED for anything but exactly these forms.
  static Result<Identity> parse(std::string_view uri, const std::string& domain);
  bool operator==(const Identity&) const = default;
};

}  // namespace leasehold
