// What `dcgmi diag -j` printed, as rows (test, GPU, status), whichever of its shapes it has
// (DCGM 2.x to 4.x): the structure is walked and bound to no version. Values only, any thread.
// Judges nothing but a single row: whether that status, with that text beside it, is a pass.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"

namespace leasehold {

struct DcgmRow {
  std::string test;
  int gpu_id = -1;     // DCGM's id in this boot; -1: the row names no GPU
  std::string status;  // upper case; a pass with an error beside it is "PASS WITH ERROR"
};

struct DcgmReport {
  std::string version;
  std::set<std::string> tests;  // every test that is named, with rows or without
  std::vector<DcgmRow> rows;
  std::map<int, std::string> serials;  // of entities that carry one (DCGM 4.x)
  std::vector<std::string> problems;   // errors that belong to no row, failed summaries
};

// MALFORMED: no JSON, or none of the shapes. A report without tests is not malformed.
Result<DcgmReport> parse_dcgm_report(const std::string& output);

}  // namespace leasehold
