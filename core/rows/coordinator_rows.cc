#include "core/rows/coordinator_rows.h"

#include <array>

#include "core/base/clock.h"

namespace leasehold {
namespace {

constexpr std::array<std::string_view, 3> kVerdicts = {"clean", "unverified", "refused"};

Result<ClearanceVerdict> verdict_from(const std::string& name) {
  for (size_t i = 0; i < kVerdicts.size(); ++i) {
    if (kVerdicts[i] == name) return static_cast<ClearanceVerdict>(i);
  }
  return Error(Code::kInvalidInput, "\"" + name + "\" is not a verdict of a clearance", "verdict");
}

Result<int64_t> time_member(const Json& row, const std::string& name) {
  Result<int64_t> time = parse_time(TRY(json_string(row, name)));
  if (!time.ok()) return Error(Code::kInvalidInput, time.error().message, name);
  return time;
}

}  // namespace

std::string_view clearance_verdict_name(ClearanceVerdict verdict) {
  return kVerdicts[static_cast<size_t>(verdict)];
}

Result<ClearanceRow> ClearanceRow::parse(const Json& row) {
  ClearanceRow clearance;
  clearance.run = TRY(RunId::parse(TRY(json_string(row, "run")), "run"));
  clearance.node = TRY(NodeId::parse(TRY(json_string(row, "node")), "node"));
  clearance.verdict = TRY(verdict_from(TRY(json_string(row, "verdict"))));
  clearance.digest = TRY(json_string(row, "digest"));
  clearance.policy_revision = TRY(json_int(row, "policyRevision"));
  clearance.lease = TRY(json_string_or(row, "lease", ""));
  clearance.at = TRY(json_string(row, "at"));
  clearance.reason = TRY(json_string_or(row, "reason", ""));
  return clearance;
}

RowChange ClearanceRow::change() const {
  Json row = {{"table", "clearance"},
              {"schema", 1},
              {"run", run.str()},
              {"node", node.str()},
              {"verdict", clearance_verdict_name(verdict)},
              {"digest", digest},
              {"policyRevision", policy_revision},
              {"lease", lease},
              {"at", at},
              {"reason", reason}};
  return RowChange{"clearance", run.str(), std::move(row)};
}

Result<ReceiptRow> ReceiptRow::parse(const Json& row) {
  ReceiptRow receipt;
  receipt.run = TRY(RunId::parse(TRY(json_string(row, "run")), "run"));
  receipt.node = TRY(NodeId::parse(TRY(json_string(row, "node")), "node"));
  receipt.receipt = TRY(json_object(row, "receipt"));
  return receipt;
}

RowChange ReceiptRow::change() const {
  Json row = {{"table", "receipt"},
              {"schema", 1},
              {"run", run.str()},
              {"node", node.str()},
              {"receipt", receipt}};
  return RowChange{"receipt", run.str(), std::move(row)};
}

Result<AuthorityRow> AuthorityRow::parse(const Json& row) {
  AuthorityRow authority;
  authority.until_ms = TRY(time_member(row, "until"));
  authority.time_ms = TRY(time_member(row, "time"));
  return authority;
}

RowChange AuthorityRow::change() const {
  Json row = {{"table", "authority"},
              {"schema", 1},
              {"name", kKey},
              {"until", format_time(until_ms)},
              {"time", format_time(time_ms)}};
  return RowChange{"authority", kKey, std::move(row)};
}

}  // namespace leasehold
