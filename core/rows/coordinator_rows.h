// Typed views of the rows that a coordinator sends to a site beside work and policies: what it
// found in the evidence of a run (`clearance`), its signed answer to it (`receipt`), and how long
// the site may act without hearing from it (`authority`). Values only.
#pragma once

#include <string>

#include "core/base/ids.h"
#include "core/base/json.h"
#include "core/rows/row.h"

namespace leasehold {

enum class ClearanceVerdict { kClean, kUnverified, kRefused };
std::string_view clearance_verdict_name(ClearanceVerdict verdict);

struct ClearanceRow {
  RunId run;
  NodeId node;
  ClearanceVerdict verdict = ClearanceVerdict::kRefused;
  std::string digest;  // of the run evidence's envelope, hex
  int64_t policy_revision = 0;
  std::string lease;   // or empty: an enrolment
  std::string at;      // RFC 3339
  std::string reason;  // of a refusal, from core/evidence/refusal.h

  // Anything but a known verdict is an error, never a clean one.
  static Result<ClearanceRow> parse(const Json& row);
  RowChange change() const;
};

struct ReceiptRow {
  RunId run;
  NodeId node;
  Json receipt;  // as it stands in a bundle

  static Result<ReceiptRow> parse(const Json& row);
  RowChange change() const;
};

// One row, "authority".
struct AuthorityRow {
  static constexpr const char* kKey = "authority";
  int64_t until_ms = 0;  // the end of the term
  int64_t time_ms = 0;   // the coordinator's, when it granted it

  static Result<AuthorityRow> parse(const Json& row);
  RowChange change() const;
};

}  // namespace leasehold
