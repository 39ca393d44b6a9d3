// The noun `evidence` of the command line. `evidence verify` works offline: a file, a root
// certificate, and what the reader knows; no coordinator and no clock is asked. It prints what the
// evidence shows and ends with one verdict.
#pragma once

#include <string>

#include "core/base/result.h"

namespace CLI {
class App;
}

namespace leasehold {

void add_evidence_command(CLI::App& app);

struct EvidenceVerifyOptions {
  std::string file;
  std::string root_file;  // root.pem
  std::string domain;
  bool unreceipted = false;  // a file without a receipt: then both below are needed
  std::string site_ca;       // SHA-256 in hex, as recorded for the site when the file was made
  std::string at;            // RFC 3339: when the file is known to have existed
  bool json = false;
};

struct EvidenceVerdict {
  bool verified = false;
  std::string text;  // what is printed: a summary, or the reason; ends with a newline
};

// An Error is no verdict: INVALID_INPUT for options that do not fit together, IO for a file.
Result<EvidenceVerdict> evidence_verify(const EvidenceVerifyOptions& options);

}  // namespace leasehold
