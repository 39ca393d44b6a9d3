// The rows through which a site tells of a run: `run` and `step`. Made from the journal's records
// and the state after them, so that they can be nothing but what the journal says. Values only.
#pragma once

#include "agent/engine/journal.h"

namespace leasehold {

RowChange run_row(const RunState& state);
// Of the place that the record is about; `workflow` gives its title, and may be null.
RowChange step_row(const RunState& state, const JournalRecord& record, const Workflow* workflow);
// The longest id a run may have, so that its steps' keys are ids.
inline constexpr size_t kRunIdLength = 48;

}  // namespace leasehold
