// What became of each run evidence that arrived, the head of each site's chain, and what has
// arrived and still waits for its results. Inside a transaction, on the database's thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/db/database.h"

namespace leasehold::store {

struct Evidence {
  std::string site;
  std::string run;
  std::string node;
  std::string lease;
  std::string digest;  // of the run evidence's envelope, hex
  int64_t seq = 0;
  std::string verdict;  // "clean", "unverified" or "refused"
  std::string reason;   // of a refusal
  int64_t policy_revision = 0;
  int64_t received_at_ms = 0;
  int64_t n = 0;  // in the order of arrival; made by add_evidence
};
Status add_evidence(Sql& sql, const Evidence& evidence);
Status put_evidence_seq(Sql& sql, const std::string& site, const std::string& run, int64_t seq);
Result<std::optional<Evidence>> find_evidence(Sql& sql, const std::string& site,
                                              const std::string& run);
// The newest of a machine.
Result<std::optional<Evidence>> newest_evidence(Sql& sql, const std::string& site,
                                                const std::string& node);
struct EvidenceQuery {
  std::string site, node;  // empty: any
  int64_t before = 0;      // newest first; 0: from the newest on
  int64_t limit = 0;
};
Result<std::vector<Evidence>> list_evidence(Sql& sql, const EvidenceQuery& query);

struct ChainHead {
  int64_t seq = 0;
  std::string digest;
};
Result<ChainHead> chain_head(Sql& sql, const std::string& site);  // {0, ""}: nothing yet
Status put_chain_head(Sql& sql, const std::string& site, const ChainHead& head);

Status add_pending(Sql& sql, const std::string& site, const std::string& run);
Status drop_pending(Sql& sql, const std::string& site, const std::string& run);
Result<std::vector<std::string>> pending_of(Sql& sql, const std::string& site);

}  // namespace leasehold::store
