// Renews the certificates of the site's agent and site CA when half of their life is over, for the
// keys that they have, and asks for the gateway's when the gateway sends a CSR. A file is replaced
// whole or not at all; what was renewed is used at once. Owned by main(); look() on the link's
// thread, the rest from any.
#pragma once

#include <deque>
#include <mutex>
#include <optional>

#include "agent/config.h"
#include "agent/sync/coordinator_client.h"

namespace leasehold {

class Renewal {
 public:
  // `identity` is replaced; the identities it was stay here until the end.
  Renewal(IdentityPaths paths, CurrentIdentity& identity, Clock& clock, Random& random);

  // What is due is renewed; what fails is tried again after limits::kRenewRetryMs.
  void look(CoordinatorClient& centre);

  // `done` gets the chain, PEM, from look()'s thread. A newer request takes the place of one that
  // waits, which is then never answered.
  using GatewayDone = std::function<void(const Result<std::string>& chain_pem)>;
  void ask_for_gateway(std::string csr_pem, GatewayDone done);

 private:
  struct Due {
    std::string chain_pem;  // of which certificate it was reckoned
    int64_t at_ms = 0;
  };
  bool is_due(const std::string& chain_pem, Due& due);
  void renew_own(CoordinatorClient& centre, const std::string& kind);
  Status renew_agent(CoordinatorClient& centre, const SiteIdentity& now);
  Status renew_site_ca(CoordinatorClient& centre, const SiteIdentity& now);
  Status reload();
  void serve_gateway(CoordinatorClient& centre);

  IdentityPaths paths_;
  CurrentIdentity& identity_;
  Clock& clock_;
  Random& random_;
  Due agent_due_;
  Due site_ca_due_;
  int64_t not_before_ms_ = 0;  // of the next try after one that failed
  std::deque<SiteIdentity> identities_;
  std::mutex mutex_;
  struct Asked {
    std::string csr_pem;
    GatewayDone done;
  };
  std::optional<Asked> asked_;  // under mutex_
};

}  // namespace leasehold
