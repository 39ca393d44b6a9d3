// The in-toto Statement (v1) that every result and run evidence is, and the context that a
// ramdisk's result must repeat exactly. One content has one text: parsing writes it again and
// compares bytes. Values only, any thread; never judges what the predicate says.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/evidence/refusal.h"

namespace leasehold {

inline constexpr std::string_view kStatementType = "https://in-toto.io/Statement/v1";
inline constexpr std::string_view kRunPredicate = "https://leasehold.example/evidence/run/v1";

// What a ramdisk reports on.
enum class ResultKind { kInventory, kDiskWipe, kDiagnosis };
std::string_view result_kind_name(ResultKind kind);  // "inventory", "disk-wipe", "diagnosis"
Result<ResultKind> parse_result_kind(std::string_view name);
std::string predicate_type(ResultKind kind);

struct Subject {
  std::string name;    // "disk:<wwn or serial>", "node:<node>"
  std::string sha256;  // hex
  auto operator<=>(const Subject&) const = default;
};

struct Statement {
  std::vector<Subject> subjects;
  std::string predicate_type;
  Json predicate;

  // The canonical text. MALFORMED if the predicate holds a float or text that is not UTF-8.
  Result<std::string> text() const;
};
// Refuses malformed, not-canonical.
Checked<Statement> parse_statement(std::string_view text);
// The same subjects in any order; otherwise subject-mismatch.
Checked<void> check_subjects(const std::vector<Subject>& expected, std::vector<Subject> found);

// Where a result belongs: commanded by the agent, repeated by the ramdisk.
struct ResultContext {
  std::string site;
  std::string node;
  int64_t generation = 0;  // of the run
  std::string lease;       // empty for an enrolment
  std::string run;
  int64_t pass = 1;
  std::string place;
  int64_t attempt = 1;
  std::string boot_nonce;  // base64
  std::string binding;     // "network", "vmedia", "tpm"
  std::string image;       // digest of the ramdisk image
  int64_t policy_revision = 0;

  Json to_json() const;
  static Result<ResultContext> from_json(const Json& json);
  // Subject of results that are not about disks.
  Subject node_subject() const;
  bool operator==(const ResultContext&) const = default;
};
// Nothing, or the reason of the first member that differs.
Checked<void> check_context(const ResultContext& expected, const ResultContext& found);

// The common head of each ramdisk predicate.
struct ResultHead {
  ResultContext context;
  std::string command;
  std::string nonce;  // base64, of the command
  int64_t started_at_ms = 0;
  int64_t finished_at_ms = 0;
  std::map<std::string, std::string> tool_versions;
  bool operator==(const ResultHead&) const = default;
};
// Head and body in one object, as it is signed.
Json join_predicate(const ResultHead& head, Json body);
// Takes the head's members out of `predicate`, which is the body afterwards.
Result<ResultHead> take_head(Json& predicate);

}  // namespace leasehold
