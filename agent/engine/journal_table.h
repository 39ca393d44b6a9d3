// The journal and the list of open runs as SQL: appended to, never changed. The node's place in the
// list is unique, which is the law `one-run` as a constraint of the database. Stateless; called
// inside a Database transaction only.
#pragma once

#include <vector>

#include "agent/engine/journal.h"
#include "core/db/database.h"

namespace leasehold::journal_table {

Status migrate(Sql& sql);
// The first record of a run. CONFLICT naming the open run, if the node has one.
Status open(Sql& sql, const JournalRecord& opened, const NodeId& node);
// Any later one; kFinished takes the run off the list.
Status append(Sql& sql, const JournalRecord& record);
Result<std::vector<RunId>> open_runs(Sql& sql);
// The run after all its records. NOT_FOUND if it is not open, DATABASE if they make no sense.
Result<RunState> read(Sql& sql, const RunId& run);

}  // namespace leasehold::journal_table
