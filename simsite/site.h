// A whole simulated site: its machines, one TLS server per BMC and the control socket. Owned by
// main(), which runs the loop; everything happens on the loop's thread but the fetches of a network
// boot. Writes state_dir/site.json when all of it answers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/curl/http_client.h"
#include "core/loop/http_server.h"
#include "core/loop/loop.h"
#include "simsite/config.h"
#include "simsite/effects.h"
#include "simsite/machine.h"

namespace leasehold::simsite {

class Site {
 public:
  Site(Loop& loop, Clock& clock, Random& random, const SiteConfig& config);
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  // CONFIG, IO: what could not be made or bound. After it, site.json is there.
  Status start();
  Machine* find(const std::string& name);
  const std::vector<std::unique_ptr<Machine>>& machines() const { return machines_; }
  EffectLog& effects() { return effects_; }
  // {"machines": [...]} of site.json.
  Json facts() const;

 private:
  struct Bmc {
    std::string tls_pin;
    std::unique_ptr<HttpServer> server;
  };
  Status start_bmc(Machine& machine);
  void answer_bmc(size_t index, const ServerRequest& request, Responder respond);
  void answer_control(const ServerRequest& request, Responder respond);
  void answer_tool(Machine& machine, const ServerRequest& request, Responder respond);
  void deliver(HttpServer& server, uint64_t connection, Delivery delivery, int64_t latency_ms,
               HttpResponse response, Responder respond);

  Loop& loop_;
  Clock& clock_;
  Random& random_;
  const SiteConfig& config_;
  CurlEasyClient client_;
  EffectLog effects_;
  BootFetcher boot_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<Bmc> bmcs_;  // of machines_, by index
  std::unique_ptr<HttpServer> control_;
};

}  // namespace leasehold::simsite
