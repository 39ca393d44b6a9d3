// The noun `evidence` as far as it asks the coordinator: which there is, and its file. Judging a
// file is evidence_command.h's, offline.
#pragma once

#include <string>

#include "coordinator/cli/session.h"

namespace leasehold {

struct EvidenceListOptions {
  std::string site;
  std::string node;  // SITE/NODE or NODE
  size_t most = 50;
};
Status evidence_list(Session& session, const EvidenceListOptions& options);

struct EvidenceExportOptions {
  std::string run;
  std::string out;     // "-": standard output
  bool force = false;  // replace a file that holds something else
};
// The bundle's bytes, unchanged: the file is complete, or it is not there.
Status evidence_export(Session& session, const EvidenceExportOptions& options);

}  // namespace leasehold
