#include "core/evidence/statement.h"

#include <algorithm>

#include "core/base/clock.h"
#include "core/evidence/strict_object.h"
#include "core/tls/crypto.h"

namespace leasehold {
namespace {

constexpr Words<ResultKind, 3> kKinds = {{{ResultKind::kInventory, "inventory"},
                                          {ResultKind::kDiskWipe, "disk-wipe"},
                                          {ResultKind::kDiagnosis, "diagnosis"}}};

Result<Subject> parse_subject(const Json& json) {
  StrictObject object(json, "subject", {"name", "digest"});
  Subject subject;
  subject.name = object.filled("name");
  StrictObject digest(object.object("digest"), "subject's digest", {"sha256"});
  subject.sha256 = digest.digest("sha256");
  TRY(object.status());
  TRY(digest.status());
  return subject;
}

}  // namespace

std::string_view result_kind_name(ResultKind kind) { return word_of(kKinds, kind); }

Result<ResultKind> parse_result_kind(std::string_view name) {
  for (const auto& [kind, word] : kKinds) {
    if (word == name) return kind;
  }
  return Error(Code::kMalformed, "unknown kind of result \"" + std::string(name) + "\"", "kind");
}

std::string predicate_type(ResultKind kind) {
  return "https://leasehold.example/evidence/" + std::string(result_kind_name(kind)) + "/v1";
}

Result<std::string> Statement::text() const {
  Json list = Json::array();
  for (const Subject& subject : subjects) {
    list.push_back({{"name", subject.name}, {"digest", {{"sha256", subject.sha256}}}});
  }
  return canonical_json({{"_type", kStatementType},
                         {"subject", list},
                         {"predicateType", predicate_type},
                         {"predicate", predicate}});
}

Checked<Statement> parse_statement(std::string_view text) {
  constexpr auto kMalformed = EvidenceReason::kMalformed;
  Json json = TRY_OR_REFUSE(parse_json(text, limits::kEvidenceBytes), kMalformed);
  StrictObject object(json, "statement", {"_type", "subject", "predicateType", "predicate"});
  if (object.text("_type") != kStatementType) object.fail("_type", "is no in-toto Statement v1");
  Statement statement;
  statement.subjects = object.list<Subject>("subject", parse_subject);
  statement.predicate_type = object.filled("predicateType");
  statement.predicate = object.object("predicate");
  TRY_OR_REFUSE(object.status(), kMalformed);
  std::string again = TRY_OR_REFUSE(statement.text(), EvidenceReason::kNotCanonical);
  if (again != text) return EvidenceRefusal{EvidenceReason::kNotCanonical, "statement"};
  return statement;
}

Checked<void> check_subjects(const std::vector<Subject>& expected, std::vector<Subject> found) {
  std::vector<Subject> wanted = expected;
  std::sort(wanted.begin(), wanted.end());
  std::sort(found.begin(), found.end());
  if (wanted == found) return {};
  return EvidenceRefusal{
      EvidenceReason::kSubjectMismatch,
      std::to_string(found.size()) + " subjects, " + std::to_string(wanted.size()) + " expected"};
}

Json join_predicate(const ResultHead& head, Json body) {
  body["context"] = head.context.to_json();
  body["command"] = head.command;
  body["nonce"] = head.nonce;
  body["started_at"] = format_time(head.started_at_ms);
  body["finished_at"] = format_time(head.finished_at_ms);
  body["tool_versions"] = head.tool_versions;
  return body;
}

Result<ResultHead> take_head(Json& predicate) {
  constexpr const char* kMembers[] = {"context",    "command",     "nonce",
                                      "started_at", "finished_at", "tool_versions"};
  Json taken = Json::object();
  for (const char* key : kMembers) {
    if (!predicate.contains(key)) continue;
    taken[key] = std::move(predicate[key]);
    predicate.erase(key);
  }
  StrictObject object(
      taken, "predicate",
      {"context", "command", "nonce", "started_at", "finished_at", "tool_versions"});
  ResultHead head;
  head.context = object.nested<ResultContext>("context", ResultContext::from_json);
  head.command = object.filled("command");
  head.nonce = object.nonce("nonce");
  head.started_at_ms = object.time("started_at");
  head.finished_at_ms = object.time("finished_at");
  head.tool_versions = object.text_map("tool_versions");
  TRY(object.status());
  return head;
}

}  // namespace leasehold
