// One machine of the simulated site: a BMC that answers Redfish, a host with disks and GPUs, the
// tools its ramdisk finds, and the rules by which all of that misbehaves. Owned by the site; used
// on the loop's thread. It knows no sockets: what to do with a connection is in its answers.
#pragma once

#include <string>
#include <vector>

#include "core/base/clock.h"
#include "simsite/config.h"
#include "simsite/effects.h"
#include "simsite/host.h"
#include "simsite/redfish/resource.h"
#include "simsite/tools/tool.h"

namespace leasehold::simsite {

// What happens to the connection of a call.
enum class Delivery { kAnswer, kDrop, kReset, kHang };

struct BmcAnswer {
  Delivery delivery = Delivery::kAnswer;
  int64_t latency_ms = 0;
  HttpResponse response;
};

struct ToolAnswer {
  Delivery delivery = Delivery::kAnswer;
  int64_t latency_ms = 0;
  ToolResult result;
};

class Machine {
 public:
  Machine(Loop& loop, Clock& clock, Random& random, BootFetcher& boot, EffectLog& effects,
          const MachineConfig& config, const SiteConfig& site);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Makes the disks and the shims, applies the configured faults and power. IO, CONFIG.
  Status prepare();
  BmcAnswer bmc_request(const RedfishRequest& request);
  ToolAnswer tool_call(const std::vector<std::string>& argv);
  FaultRules& faults() { return faults_; }
  const std::string& name() const { return config_.name; }
  const MachineConfig& config() const { return config_; }

  Json summary() const;  // {"name", "power", "runs"}
  Json details() const;  // with accounts, boot override, effects
  Json secrets() const;  // what tests look for everywhere: passwords, and those ever sent
  Json facts() const;    // of site.json, without the BMC's address

 private:
  // Returns whether the change is still to be applied.
  bool spoil(const FaultPlan& plan, const RedfishRequest& request, BmcAnswer& answer);
  void apply(const Change& change, const RedfishRequest& request);
  void count_login(const LoginAttempt& login);
  void remember_password(const Json& body);
  // The tool's erasure, if any, as the plan lets it happen.
  void erase(const ToolCall& call, const std::vector<std::string>& argv, const FaultPlan& plan,
             ToolAnswer& answer);

  Clock& clock_;
  Random& random_;
  EffectLog& effects_;
  const MachineConfig& config_;
  const SiteConfig& site_;
  const std::string folder_;
  BmcState state_;
  FaultRules faults_;
  ToolHardware hardware_;
  Host host_;
  int64_t effects_here_ = 0;
  std::vector<std::string> sent_passwords_;
};

}  // namespace leasehold::simsite
