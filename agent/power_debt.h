// Law fail-closed: a quarantined machine owes power-off, pursued with backoff, an error in the log
// at each failure, until Off is read. The debt is the node's row, durable before the first
// ForceOff; it is worked on only while the node has no open run, and a run that starts meanwhile
// waits (BusyNodes). Owned by main(); loop thread, each attempt on a thread of its own.
#pragma once

#include <map>

#include "agent/engine/engine.h"
#include "agent/engine/step_threads.h"
#include "agent/store.h"
#include "agent/tools.h"
#include "core/loop/loop.h"

namespace leasehold {

class PowerDebt {
 public:
  PowerDebt(Loop& loop, Database& database, Engine& engine, StepThreads& threads,
            const Tools& tools);

  // Looks for debts now, and from then on by itself every limits::kPowerOffLookMs.
  void start();
  void look();

 private:
  enum class Phase { kIdle, kUnderWay, kWaiting };
  struct Debt {
    int64_t retry_ms = 0;
    Phase phase = Phase::kIdle;
  };
  void consider(const NodeId& node);
  void attempt(const NodeId& node, std::shared_ptr<Snapshot> rows);
  void settled(const NodeId& node, const Status& off);
  void paid(const NodeId& node);
  void retry_later(const NodeId& node);

  Loop& loop_;
  Database& database_;
  Engine& engine_;
  StepThreads& threads_;
  const Tools& tools_;
  std::map<NodeId, Debt> debts_;
};

}  // namespace leasehold
