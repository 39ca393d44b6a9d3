// A plain table for a terminal: columns as wide as their widest cell, two spaces between, no lines.
#pragma once

#include <string>
#include <vector>

namespace leasehold {

// The first row is the head. Ends with a newline; trailing spaces are cut. Cells are made harmless
// to a terminal.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace leasehold
