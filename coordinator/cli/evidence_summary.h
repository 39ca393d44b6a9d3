// What `evidence verify` prints: for people and, with --json, for programs. Values only. Text from
// a machine (serials, models, firmware) is shown without control characters.
#pragma once

#include <string>

#include "core/evidence/bundle.h"

namespace leasehold {

// How an unreceipted file was judged: by what its reader says.
struct JudgedBy {
  std::string site_ca_sha256;
  int64_t instant_ms = 0;
};

std::string evidence_summary(const VerifiedBundle& bundle, const JudgedBy& by);
std::string evidence_summary_json(const VerifiedBundle& bundle, const JudgedBy& by);
std::string refusal_summary(const EvidenceRefusal& refusal);
std::string refusal_summary_json(const EvidenceRefusal& refusal);

}  // namespace leasehold
