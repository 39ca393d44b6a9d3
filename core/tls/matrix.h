// The issuer matrix: which kind comes from which certificate authority, what it may do, and whether
// it is a server. issue_leaf and judge both read it, and nothing else says anything of the kind.
// Values only.
#pragma once

#include <string_view>

#include "core/tls/identity.h"
#include "core/tls/x509.h"

namespace leasehold {

enum class CaRole { kNone, kRoot, kIssuing, kSite };

struct KindRule {
  IdentityKind kind;
  std::string_view name;
  CaRole issuer;
  bool server;     // may carry DNS and IP names
  unsigned verbs;  // bit 1 << verb
};

const KindRule& kind_rule(IdentityKind kind);
bool kind_may(IdentityKind kind, Verb verb);

}  // namespace leasehold
