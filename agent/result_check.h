// One result of a ramdisk as it arrives: verified (core/evidence) against the command it answers. A
// result that was not made by this ramdisk for this command is refused; one that was, but does not
// show what it should (a disk that is not blank, a GPU that failed), is recorded with its reason,
// and its step fails. Any thread.
#pragma once

#include "agent/private_rows.h"
#include "agent/tools.h"
#include "core/evidence/result_verifier.h"
#include "core/rows/site_rows.h"

namespace leasehold {

struct CheckedResult {
  ResultRow row;
};

// EVIDENCE_REFUSED (the reason's name as the field) for the first kind.
Result<CheckedResult> check_result(const Tools& tools, const NodeRow& node,
                                   const CommandRow& command, const Json& body, int64_t now_ms);

// Does this reason speak of the machine, or of the signature and what it was made for?
bool is_about_machine(EvidenceReason reason);

}  // namespace leasehold
