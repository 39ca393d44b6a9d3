// Group 8 of the teardown. First the run's evidence is signed over the results of steps 1 to 7,
// then metal.exitTenantRoot, the gate: it checks everything before it clears anything, and alone
// gives trust back (law trust-first). Ready is written only behind the same verifier (law
// no-dirty-ready). Runs on a step's thread.
#pragma once

#include "agent/steps/support.h"

namespace leasehold {

StepOutcome sign_evidence(const Tools& tools, StepContext& context);
StepOutcome exit_tenant_root(const Tools& tools, StepContext& context);

// The verifier's word on a run's evidence, as the rows have it. WIPE_UNVERIFIED with its reason.
Status verify_run(const Tools& tools, const RunId& run, const std::vector<ResultRow>& all);

// The rows that make the node ready: only if the verifier accepts the evidence of the run that the
// exit named (NodeRow::clean_run).
Result<Done> ready_rows(const Tools& tools, StepContext& context);

}  // namespace leasehold
