// `evidence verify`, without the command line's library. It works offline: a file, a root
// certificate, and what the reader knows; no coordinator and no clock is asked. It tells what the
// evidence shows and ends with one verdict.
#pragma once

#include <string>

#include "core/base/result.h"

namespace leasehold {

struct EvidenceVerifyOptions {
  std::string file;
  std::string root_file;  // root.pem; "": from the configuration, as the domain
  std::string domain;
  bool unreceipted = false;  // a file without a receipt: then both below are needed
  std::string site_ca;       // SHA-256 in hex, as recorded for the site when the file was made
  std::string at;            // RFC 3339: when the file is known to have existed
  bool json = false;
  std::string config_file;  // as of --config
};

struct EvidenceVerdict {
  bool verified = false;
  std::string text;  // what is printed: a summary, or the reason; ends with a newline
};

// An Error is no verdict: INVALID_INPUT for options that do not fit together, IO for a file.
Result<EvidenceVerdict> evidence_verify(const EvidenceVerifyOptions& options);

}  // namespace leasehold
