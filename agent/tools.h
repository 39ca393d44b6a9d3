// What steps work with besides their rows: the BMCs, bootd, the vault, the site's identity, chance
// and time. Built once by main(); every member outlives the engine. The interfaces are what a
// simulation replaces. Thread-safe as their members are.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "agent/vault.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/tls/x509.h"
#include "drivers/bmc.h"

namespace leasehold {

class Sql;

// leasehold-bootd's control socket (docs/protocols.md section 1). Calls block their thread.
class BootControl {
 public:
  virtual ~BootControl() = default;
  // CONFLICT if this power-on was armed before.
  virtual Status arm(const std::string& mac, const Json& arming) = 0;
  virtual Status disarm(const std::string& mac) = 0;
};

// Which nodes an owed power-off is being worked on: its ForceOff must not hit a run's power-on.
class BusyNodes {
 public:
  bool try_hold(const NodeId& node) {
    std::lock_guard lock(mutex_);
    return held_.insert(node).second;
  }
  void release(const NodeId& node) {
    std::lock_guard lock(mutex_);
    held_.erase(node);
  }
  bool held(const NodeId& node) const {
    std::lock_guard lock(mutex_);
    return held_.contains(node);
  }

 private:
  mutable std::mutex mutex_;
  std::set<NodeId> held_;
};

// The site numbers its run evidence and chains it by digest: one signer at a time, from its look at
// the last number until its commit. The head is read from the database once, at the start.
class EvidenceChain {
 public:
  struct Head {
    int64_t seq = 0;
    std::string digest;  // hex; empty with seq 0
  };
  void start_at(Head head) {
    std::lock_guard lock(mutex_);
    head_ = std::move(head);
  }
  // The head, if it is this run's turn.
  std::optional<Head> try_take(const RunId& run) {
    std::lock_guard lock(mutex_);
    if (!holder_.empty() && holder_ != run) return std::nullopt;
    holder_ = run;
    return head_;
  }
  void give_back(const RunId& run) {
    std::lock_guard lock(mutex_);
    if (holder_ == run) holder_ = RunId();
  }
  void committed(const RunId& run, Head head) {
    std::lock_guard lock(mutex_);
    head_ = std::move(head);
    if (holder_ == run) holder_ = RunId();
  }

 private:
  std::mutex mutex_;
  RunId holder_;
  Head head_;
};

// When each node's ramdisk was last heard (monotonic milliseconds), whatever it said. Only in
// memory: after a restart of the agent a ramdisk has its whole time again.
class Sightings {
 public:
  void seen(const std::string& node, int64_t now_ms) {
    std::lock_guard lock(mutex_);
    last_ms_[node] = now_ms;
  }
  int64_t last_ms(const std::string& node) const {
    std::lock_guard lock(mutex_);
    auto it = last_ms_.find(node);
    return it == last_ms_.end() ? 0 : it->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int64_t> last_ms_;
};

// Whether a run may start now, asked in the transaction that would begin it. Null in Tools: nobody
// has a say (a site without a coordinator).
class StartGate {
 public:
  virtual ~StartGate() = default;
  virtual Status may_start(Sql& sql) const = 0;
};

struct SiteIdentity {
  std::string site;
  std::string domain;
  Anchors anchors;
  CaKey site_ca;
  std::string agent_chain_pem;  // site-agent leaf and chain
  std::string agent_key_pem;
  std::string image_sha256;  // of the platform ramdisk's initrd
  std::string kernel_file;   // names in bootd's image folder
  std::string initrd_file;
  std::string cmdline;
  std::string gateway_host;
  std::string gateway_address;
  int64_t gateway_port = 0;
};

// The identity in use: replaced when a certificate was renewed. A former one stays valid to read
// until the process ends, because whoever holds it may still be signing. Thread-safe.
class CurrentIdentity {
 public:
  CurrentIdentity(const SiteIdentity* first = nullptr) : now_(first) {}  // NOLINT: implicit
  CurrentIdentity(const CurrentIdentity& other) : now_(other.now_.load()) {}
  CurrentIdentity& operator=(const CurrentIdentity& other) {
    now_ = other.now_.load();
    return *this;
  }
  const SiteIdentity& operator*() const { return *now_.load(); }
  const SiteIdentity* operator->() const { return now_.load(); }
  void replace(const SiteIdentity* next) { now_ = next; }

 private:
  std::atomic<const SiteIdentity*> now_;
};

struct Tools {
  BmcFactory* bmcs = nullptr;
  BootControl* boot = nullptr;
  Vault* vault = nullptr;
  Clock* clock = nullptr;
  Random* random = nullptr;
  CurrentIdentity identity;
  BusyNodes* busy = nullptr;
  EvidenceChain* chain = nullptr;
  Sightings* sightings = nullptr;
  const StartGate* gate = nullptr;
};

}  // namespace leasehold
