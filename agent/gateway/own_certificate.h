// The gateway's own certificate: when half of its life is over it asks the agent for another one,
// for the key that it has and never gives away, and serves with it from then on. Owned by main(),
// called on the loop's thread.
#pragma once

#include <functional>
#include <string>

#include "core/base/clock.h"
#include "core/loop/loop.h"
#include "core/tls/tls.h"

namespace leasehold {

class OwnCertificate {
 public:
  struct Ports {
    std::function<void(std::string frame)> send;               // to the agent, if there is one
    std::function<Status(const TlsServerConfig&)> serve_with;  // the server, from now on
  };
  OwnCertificate(Loop& loop, Clock& clock, Random& random, TlsServerConfig tls, std::string file,
                 Ports ports);

  // Looks now, and from then on each limits::kRenewRetryMs.
  void watch();
  // Takes what the agent sends: in use, and in the file if that can be written.
  void renewed(const std::string& chain_pem);

 private:
  Status take(const std::string& chain_pem);

  Loop& loop_;
  Clock& clock_;
  Random& random_;
  TlsServerConfig tls_;
  std::string file_;
  Ports ports_;
  int64_t due_ms_ = 0;
};

}  // namespace leasehold
