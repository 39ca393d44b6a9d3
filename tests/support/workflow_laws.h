// The four workflow laws (docs/laws.md), over any workflow: (1) each step twice, (2) failure at
// each step, (3) a crash after each journal write, then a restart, (4) the reply lost after the
// act. A workflow comes with a factory that makes a fresh world for it; the harness finds the
// journal's points itself, in an undisturbed run. Everything runs in one thread and in virtual
// time. Tests only; it asserts with what it returns, so that it depends on no test framework.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/engine/engine.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/temp_folder.h"
#include "tests/support/virtual_time.h"

namespace leasehold::test {

// The world of one run, from before its start to its end, restarts of the agent included. It
// survives a crash; what the agent holds in memory does not.
class LawWorld {
 public:
  virtual ~LawWorld() = default;
  // The workflow over this world. Asked again after each restart.
  virtual Workflow workflow(Clock& clock) = 0;
  // Tables other than the engine's, and the rows that the run starts from. Runs at every start.
  virtual Status migrate(Sql& sql) = 0;
  virtual RunInfo run() = 0;
  virtual Status load(Sql& sql, const RunInfo& run, Snapshot& rows) = 0;
  virtual Status apply(Sql& sql, const RowChange& change) = 0;
  virtual Done fail_unknown(const RunInfo& run, const Snapshot& rows, const Error& error) = 0;
  // The agent was started (again): whoever posts events to the run does it through this engine.
  virtual void started(Engine& engine, Database& database, VirtualTime& time) = 0;
  // What the world and the rows say at the end, without what may differ (times, attempts, random
  // ids, how often something was looked at).
  virtual Json final_state(Sql& sql) = 0;
  // Law 2: empty if a run that failed at this place has ended as it must; else what is wrong.
  virtual std::string judge_failure(Sql& sql, const std::string& place) = 0;
};
using LawWorldFactory = std::function<std::unique_ptr<LawWorld>()>;

struct LawReport {
  std::vector<std::string> problems;  // empty: the laws hold
  int runs = 0;
  int points = 0;  // journal writes after which it was killed
};

LawReport check_each_step_twice(const LawWorldFactory& factory);
LawReport check_failure_at_each_step(const LawWorldFactory& factory);
LawReport check_crash_after_each_write(const LawWorldFactory& factory);
LawReport check_reply_lost_after_each_act(const LawWorldFactory& factory);
LawReport check_all_laws(const LawWorldFactory& factory);

}  // namespace leasehold::test
