// The decisions of the door to machines, as functions over the rows of one transaction. Database
// thread. Every refusal is an Error whose code and message go back to the machine; a result that is
// refused is also recorded with its reason.
#pragma once

#include "agent/store.h"
#include "agent/tools.h"

namespace leasehold {

// Why the door sends a machine away whose certificate is genuine: a closed list, FORBIDDEN but for
// the lessees, which are TENANT_CONTROLLED. An error's message begins with the name and ": ".
enum class DoorRefusal {
  kNoSuchBoot,
  kBootOfAnotherRun,
  kBootClosed,
  kBootClaimedTwice,
  kWrongToken,
  kRunNotOpen,
  kGenerationRaised,
  kNotARamdisk,
  kWrongNode,
  kNeverIssued,
  kRamdiskClosed,
  kNotItsCommand,
  kLessee,
  kLesseeFenced,
};
std::string_view door_refusal_name(DoorRefusal refusal);

// Who asks, by its certificate, allowed for `verb` now: the run is open, its generation is the
// node's, the ramdisk is the open one of this run by serial.
struct RamdiskCaller {
  Identity identity;
  RamdiskRow ramdisk;
  NodeRow node;
};
Result<RamdiskCaller> judge_ramdisk(Sql& sql, const Tools& tools,
                                    const std::vector<std::string>& chain_der, Verb verb);

// Uses the token once and issues the certificate of the run. The same CSR again (a lost answer) is
// answered alike; another one with the right MAC means a second machine: claimed-twice.
struct JoinOutcome {
  Json answer;
  RunId run;
};
// A refusal that wrote rows which its run must look at names that run in `concerned`.
Result<JoinOutcome> decide_join(Sql& sql, const Tools& tools, const Json& body,
                                RunId* concerned = nullptr);

// The commands after `after` that have no result yet.
Result<Json> open_commands(Sql& sql, const RamdiskCaller& caller, int64_t after);

// Verifies and records one result; the answer comes after its commit. A known result is answered
// alike, another one for its command is refused, and so is any for a command that was refused.
// `concerned` as above.
struct ResultOutcome {
  RunId run;
  std::string verdict;
};
Result<ResultOutcome> decide_result(Sql& sql, const Tools& tools,
                                    const std::vector<std::string>& chain_der, const Json& body,
                                    RunId* concerned = nullptr);

// This command will have no good result: its step fails with `why`, and does not wait for a day.
Status refuse_command(Sql& sql, const RamdiskCaller& caller, const std::string& id,
                      const std::string& why);

// A second claim of a run document: the boot is not to be trusted any more, and a machine that is
// ready behind it is quarantined. The run to wake.
Result<RunId> decide_second_claim(Sql& sql, const Tools& tools, const std::string& boot);

}  // namespace leasehold
