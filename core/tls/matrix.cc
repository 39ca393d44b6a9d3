#include "core/tls/matrix.h"

#include <array>

namespace leasehold {
namespace {

constexpr unsigned bit(Verb verb) { return 1u << static_cast<unsigned>(verb); }

// In the order of IdentityKind. A lessee's root holds the node-tenant key: it never attests, and is
// shown no secret.
constexpr std::array kRules = {
    KindRule{IdentityKind::kRamdisk, "ramdisk", CaRole::kSite, false,
             bit(Verb::kAttest) | bit(Verb::kRamdiskCommand) | bit(Verb::kSession)},
    KindRule{IdentityKind::kNodeTenant, "node-tenant", CaRole::kSite, false, bit(Verb::kSession)},
    KindRule{IdentityKind::kNode, "node", CaRole::kIssuing, false,
             bit(Verb::kAttest) | bit(Verb::kSession) | bit(Verb::kReadSecret)},
    KindRule{IdentityKind::kSiteAgent, "site-agent", CaRole::kIssuing, true,
             bit(Verb::kSignRun) | bit(Verb::kSyncRows) | bit(Verb::kCallApi)},
    KindRule{IdentityKind::kGateway, "gateway", CaRole::kIssuing, true, bit(Verb::kServeGateway)},
    KindRule{IdentityKind::kCoordinator, "coordinator", CaRole::kIssuing, true,
             bit(Verb::kSyncRows) | bit(Verb::kSignReceipt)},
    KindRule{IdentityKind::kOperator, "operator", CaRole::kIssuing, false, bit(Verb::kCallApi)},
    KindRule{IdentityKind::kTenant, "tenant", CaRole::kIssuing, false, bit(Verb::kCallApi)},
};

constexpr bool in_order() {
  for (size_t i = 0; i < kRules.size(); ++i) {
    if (static_cast<size_t>(kRules[i].kind) != i) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

const KindRule& kind_rule(IdentityKind kind) { return kRules[static_cast<size_t>(kind)]; }

bool kind_may(IdentityKind kind, Verb verb) { return (kind_rule(kind).verbs & bit(verb)) != 0; }

}  // namespace leasehold
