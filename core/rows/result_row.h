// The `result` row: what a ramdisk signed and the site accepted, or the run evidence that the site
// itself signed. Read by the site's gate and by the coordinator's clearance. Values only.
#pragma once

#include <string>

#include "core/base/ids.h"
#include "core/base/json.h"
#include "core/rows/row.h"

namespace leasehold {

// A ramdisk's result as it was accepted, or the run evidence of the site.
struct ResultRow {
  std::string result;  // the command's id, or "<run>-evidence"
  NodeId node;
  RunId run;
  int64_t pass = 1;
  std::string place;
  std::string kind;     // "inventory", "disk-wipe", "diagnosis", "run"
  std::string digest;   // hex, SHA-256 of the canonical envelope
  std::string verdict;  // "PASS", "FAIL" or "UNKNOWN"; "clean" for kind run
  std::string reason;   // of a verdict that is not a pass
  Json envelope;
  Json chain;  // PEM, leaf first
  std::string at;

  static Result<ResultRow> parse(const Json& row);
  RowChange change() const;
};

}  // namespace leasehold
