// The machines that a technician wants enrolled, from the command line or a CSV file
// (docs/enrol.md): read and checked as a whole, with each password from its own file, before
// anything is sent. Blocks on the disk; holds secrets only in what it returns.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"

namespace leasehold {

// One machine as people write it; empty members are not said.
struct MachineLine {
  int line = 0;  // of the file; 0: the command line
  std::string name, pool, bmc, user, password_file, boot_mac, tls_pin;
};

// Machines of a CSV text (RFC 4180; the first line names the columns; blank lines and lines that
// begin with # are skipped). Every wrong line is named: the message holds one line per problem.
Result<std::vector<MachineLine>> parse_machine_csv(const std::string& text);
// The fields of one line. INVALID_INPUT for a quote that does not end.
Result<std::vector<std::string>> split_csv_line(const std::string& line);

// The body of POST /v1/enrolments. Relative password files are of `folder`. Every wrong machine is
// named, as above.
Result<Json> enrolment_request(const std::vector<MachineLine>& machines, const std::string& folder);

// An error of the agent about "enrolments[2].bmc.url", said about the line it came from.
Error about_line(Error error, const std::vector<MachineLine>& machines);

}  // namespace leasehold
