// The ramdisk program's course: fetch the run document once, say hello, join, then take commands
// one after another until the power goes. Owned by main(), runs on the main thread. It never gives
// up on its gateway (the agent may be starting again); it ends only when its boot can come to
// nothing.
#pragma once

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/http/message.h"
#include "pxe/ramdisk/executor.h"
#include "pxe/ramdisk/gateway_client.h"

namespace leasehold {

class Ramdisk {
 public:
  Ramdisk(const Sysroot& root, HttpClient& http, Clock& system, Random& random)
      : root_(root), http_(http), clock_(system), random_(random) {}

  // Returns only with the reason why this boot is over: CONFIG, REFUSED, MALFORMED, TIMEOUT, ...
  Status run();

 private:
  Result<RunDocument> fetch_document(const BootFacts& facts);
  Status greet_and_join(GatewayClient& gateway);
  void serve_once(GatewayClient& gateway, Executor& executor);
  void answer(GatewayClient& gateway, Executor& executor, const Command& command);

  const Sysroot& root_;
  HttpClient& http_;
  PlatformClock clock_;
  Random& random_;
  int64_t newest_ = 0;  // of the commands seen
  int64_t failed_polls_ = 0;
};

}  // namespace leasehold
