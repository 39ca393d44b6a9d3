// The rows through which a site tells of a run: `run` and `step`. Made from the journal's records
// and the state after them, so that they can be nothing but what the journal says. Values only.
#pragma once

#include "agent/engine/journal.h"

namespace leasehold {

// The run, with the place that is in progress: a `step` row comes only when a place is over.
// `workflow` gives titles, and may be null.
RowChange run_row(const RunState& state, const Workflow* workflow);
// Of the place that the record ends.
RowChange step_row(const RunState& state, const JournalRecord& record, const Workflow* workflow);
// The longest id a run may have, so that its steps' keys are ids.
inline constexpr size_t kRunIdLength = 48;

}  // namespace leasehold
