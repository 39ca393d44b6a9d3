// Typed views of the rows that never leave a site's database: sealed BMC credentials, the platform
// ramdisks that were opened, and the commands they were given. Secrets in them are sealed
// (vault.h). Values only.
#pragma once

#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/json.h"
#include "core/rows/result_row.h"
#include "core/rows/row.h"

namespace leasehold {

class Snapshot;

enum class VersionState { kPending, kConfirmed, kDead, kSuperseded };

// One version of one credential of one BMC account on one protocol. Law credential-kept: exactly
// one is confirmed; what opens the BMC is always among the confirmed and the pending. At most one
// is superseded: it opened the BMC before the confirmed one did, and is kept until another rotation
// ends well, for a BMC that forgets what it took.
struct VaultVersion {
  std::string version_key;  // "<node>-<protocol>-<number>"
  NodeId node;
  std::string bmc_url;
  std::string account;
  std::string protocol;  // "redfish"
  int64_t number = 0;
  VersionState state = VersionState::kPending;
  std::string sealed;  // base64; empty once dead
  std::string run;     // that made it
  // Pending, and the BMC said no to it and kept to that while we looked. It may take it later all
  // the same (quirk A11), so the secret stays; it is tried after every other. Of one that a person
  // gave (no run): it has never opened the BMC, and is not sent again alone.
  bool refused = false;

  // What the seal is bound to (associated data).
  std::string bound() const;
  static Result<VaultVersion> parse(const Json& row);
  RowChange change() const;
};

// One opening of the platform ramdisk: one power-on of one run.
struct RamdiskRow {
  std::string boot;  // power-on id
  NodeId node;
  RunId run;
  int64_t pass = 1;
  std::string state;         // "armed", "joined", "claimed-twice", "closed"
  std::string sealed_token;  // base64; stays, to know a second machine that uses it
  std::string boot_nonce;    // base64
  int64_t life_ms = 0;       // of its certificate: what the run's steps may still take
  std::string csr_sha256;    // hex; of the join
  std::string serial;        // hex; of its certificate
  std::string chain_pem;     // its certificate and the chain above

  std::string bound() const;  // associated data of the token's seal
  static Result<RamdiskRow> parse(const Json& row);
  RowChange change() const;
};

struct CommandRow {
  std::string command;  // id
  NodeId node;
  RunId run;
  int64_t number = 0;  // rises within the run: "after=N"
  std::string boot;
  std::string place;
  std::string verb;
  std::string kind;   // "disk-wipe", "inventory", "diagnosis": the result's predicate type
  std::string nonce;  // base64
  Json context;
  Json args;
  std::string refused;  // why its result was refused, or why the ramdisk could not do it

  static Result<CommandRow> parse(const Json& row);
  RowChange change() const;
};

// The rows of that type in a snapshot. INTERNAL if one cannot be read.
Result<std::vector<VaultVersion>> vault_versions(const Snapshot& rows);
Result<std::vector<RamdiskRow>> ramdisks(const Snapshot& rows);
Result<std::vector<CommandRow>> commands(const Snapshot& rows);
Result<std::vector<ResultRow>> results(const Snapshot& rows);

}  // namespace leasehold
