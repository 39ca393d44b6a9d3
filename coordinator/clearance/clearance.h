// Law no-dirty-ready at the centre: the evidence of each run is judged by the coordinator itself,
// with the code that the site used, when it has arrived. What holds gets a `clearance` and a signed
// `receipt`; what does not is refused, and its machine quarantined. Inside a transaction, on the
// database's thread; the rows are written in the very transaction of the evidence.
#pragma once

#include "coordinator/clearance/arrival.h"

namespace leasehold {

// A `result` row: run evidence is remembered for judge_evidence().
Status result_arrived(Sql& sql, Arrival& arrival, const RowChange& change);
// Judges what has arrived and was not judged, in the order of its numbers. Called when a batch, or
// the last piece of a snapshot, was applied: then every result is there.
Status judge_evidence(Sql& sql, Arrival& arrival);
// A ready machine behind refused evidence is given a quarantine, once.
Status quarantine_if_refused(Sql& sql, Arrival& arrival, const std::string& node);
// Of a restored coordinator's own rows, in the order of a snapshot.
Status clearance_came_back(Sql& sql, Arrival& arrival, const RowChange& change);
Status receipt_came_back(Sql& sql, Arrival& arrival, const RowChange& change);

}  // namespace leasehold
