// metal.ensureRamdisk: the platform ramdisk of this run runs on the machine. First its row (token,
// nonce) is durable, then bootd is armed, the boot override set and the host powered on; only the
// ramdisk's own join and signed inventory prove that it runs, never the BMC's word. And the
// commands it is given: a row first, then the wait for the signed result. Runs on a step's thread.
#pragma once

#include "agent/steps/support.h"

namespace leasehold {

// `life_ms`: what this step and the ones after it may take in all.
StepOutcome ramdisk_open(const Tools& tools, StepContext& context, int64_t life_ms);
// RAMDISK_NO_CALL_HOME, BOOT_CLAIMED_TWICE, POWER_NOT_ON.
StepOutcome ramdisk_boot(const Tools& tools, StepContext& context);

// What a command asks for. `failure` is the code of a verdict that is not a pass.
struct CommandSpec {
  std::string verb;
  std::string kind;
  int64_t within_ms = 60'000;
  Code failure = Code::kInternal;
  // Fills the arguments from the rows.
  std::function<Result<Json>(const Tools&, const StepContext&)> args;
};
// `failure`: of a machine that does not show what is known of it.
CommandSpec inventory_command(Code failure);
CommandSpec wipe_command();
CommandSpec diagnosis_command();

// Writes the command's row: from its commit on the ramdisk may fetch it.
StepOutcome command_issue(const Tools& tools, StepContext& context, const CommandSpec& spec);
// Waits for the accepted result: Done{output {"command","digest","verdict"}}, the spec's failure
// with the result's reason, or RAMDISK_LOST if the machine went off or the time is over.
StepOutcome command_await(const Tools& tools, StepContext& context, const CommandSpec& spec);

// boot.cleanUp: bootd disarmed, the boot override cleared.
StepOutcome boot_clean_up(const Tools& tools, StepContext& context);

}  // namespace leasehold
