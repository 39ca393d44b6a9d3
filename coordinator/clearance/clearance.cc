#include "coordinator/clearance/clearance.h"

#include <algorithm>

#include "coordinator/limits.h"
#include "coordinator/store/evidence.h"
#include "coordinator/store/indexes.h"
#include "coordinator/store/pools.h"
#include "coordinator/store/site_rows.h"
#include "coordinator/store/sites.h"
#include "core/base/log.h"
#include "core/evidence/bundle.h"
#include "core/evidence/bundle_rows.h"
#include "core/rows/coordinator_rows.h"
#include "core/rows/pool_policy.h"

namespace leasehold {
namespace {

// One run's evidence with the results that arrived before it.
struct Case {
  std::string run;
  ResultRow row;
  std::vector<ResultRow> results;  // `row` among them
  RunEvidence claims;              // of `row`, unverified
  std::string unreadable;          // why there are no claims
};

Result<Case> read_case(Sql& sql, const std::string& site, const std::string& run) {
  Case found;
  found.run = run;
  std::vector<Json> rows = TRY(store::site_rows_of_run(sql, site, "result", run));
  for (const Json& row : rows) {
    Result<ResultRow> parsed = ResultRow::parse(row);
    if (!parsed.ok()) continue;  // then the bundle lacks it, and says so
    if (parsed.value().kind == "run") found.row = parsed.value();
    found.results.push_back(std::move(parsed).value());
  }
  Result<SignedEnvelope> signed_envelope =
      SignedEnvelope::from_json(Json{{"envelope", found.row.envelope}, {"chain", found.row.chain}});
  if (!signed_envelope.ok()) {
    found.unreadable = signed_envelope.error().message;
    return found;
  }
  found.row.digest = signed_envelope.value().envelope.digest();  // not what the row says it is
  Checked<RunEvidence> claims = parse_run_evidence(signed_envelope.value().envelope);
  if (claims.ok()) {
    found.claims = claims.value();
  } else {
    found.unreadable = claims.error().text();
  }
  return found;
}

EvidenceRefusal refuse(EvidenceReason reason, const std::string& detail) {
  return EvidenceRefusal{reason, detail};
}

// What is signed is about the very node, run and site whose row carries it.
Checked<void> check_place(const Case& judged, const std::string& site, const std::string& node) {
  const RunEvidence& claims = judged.claims;
  if (claims.site != site) return refuse(EvidenceReason::kWrongSite, claims.site);
  if (claims.run != judged.run) return refuse(EvidenceReason::kWrongRun, claims.run);
  if (claims.node != node) return refuse(EvidenceReason::kWrongNode, claims.node);
  return {};
}

Checked<void> check_chain(const RunEvidence& claims, const store::ChainHead& head) {
  if (claims.seq == head.seq + 1 && claims.prev == head.digest) return {};
  return refuse(EvidenceReason::kBrokenSequence,
                "number " + std::to_string(claims.seq) + " came after " + std::to_string(head.seq));
}

// The policy that the site worked by is one that the coordinator gave: a broken agent could ask for
// less.
Checked<void> check_policy(const EvidencePolicy& claimed, const Json& given) {
  if (given.is_null()) {
    return refuse(EvidenceReason::kWrongPolicy, "pool " + claimed.pool + " has no revision " +
                                                    std::to_string(claimed.revision) + " here");
  }
  Result<PoolPolicy> parsed = PoolPolicy::parse(given);
  if (!parsed.ok()) return refuse(EvidenceReason::kWrongPolicy, parsed.error().message);
  const PoolPolicy& policy = parsed.value();
  const auto minimum = parse_wipe_minimum(wipe_minimum_name(policy.wipe_minimum));
  const auto extent = parse_readback_extent(readback_name(policy.readback));
  const bool same =
      minimum.ok() && extent.ok() && claimed.firmware_baseline == policy.firmware_baseline &&
      claimed.wipe.minimum == minimum.value() && claimed.wipe.readback == extent.value() &&
      claimed.minimum_binding == join_binding_name(policy.minimum_binding);
  if (same) return {};
  return refuse(EvidenceReason::kWrongPolicy, "revision " + std::to_string(claimed.revision) +
                                                  " of pool " + claimed.pool +
                                                  " asks for something else");
}

// A machine is given back while its site is cut off, and its ramdisk's certificate ends within
// hours: certificates are judged at the signing, as far back as a site may act unheard.
int64_t instant_of(const RunEvidence& claims, int64_t arrived_ms) {
  const int64_t oldest = arrived_ms - limits::kAuthorityTermMs;
  return claims.at_ms < arrived_ms && claims.at_ms >= oldest ? claims.at_ms : arrived_ms;
}

// What the coordinator's own records say, beside the bundle.
struct Records {
  Anchors anchors;
  store::ChainHead head;
  std::string node;
  Json policy;  // the revision that the evidence names, as a pool_policy row
};

Checked<VerifiedBundle> judge_case(const Case& judged, const std::string& site,
                                   const Records& records, int64_t arrived_ms) {
  if (!judged.unreadable.empty()) {
    return refuse(EvidenceReason::kMalformed, judged.unreadable);
  }
  TRY(check_place(judged, site, records.node));
  TRY(check_chain(judged.claims, records.head));
  TRY(check_policy(judged.claims.policy, records.policy));
  Result<std::string> text = bundle_of(judged.results);
  if (!text.ok()) return refuse(EvidenceReason::kMissingResult, text.error().message);
  return verify_bundle(text.value(), records.anchors, instant_of(judged.claims, arrived_ms));
}

Result<Records> records_of(Sql& sql, const Arrival& arrival, const Case& judged) {
  Records records;
  records.anchors = {arrival.context.config->root_pem, arrival.context.config->domain, {}};
  for (const store::SiteCa& ca : TRY(store::site_cas(sql, arrival.site))) {
    records.anchors.site_cas.emplace_back(ca.site, ca.sha256);
  }
  records.head = TRY(store::chain_head(sql, arrival.site));
  records.node = judged.row.node.str();
  records.policy = TRY(store::policy_revision(sql, arrival.site, judged.claims.policy.pool,
                                              judged.claims.policy.revision));
  return records;
}

// The chain goes on behind what came, if that is newer: a gap is refused once, not for ever.
Status advance_chain(Sql& sql, const Arrival& arrival, const Case& judged,
                     const store::ChainHead& head) {
  if (!judged.unreadable.empty() || judged.claims.seq <= head.seq) return {};
  return store::put_chain_head(sql, arrival.site, {judged.claims.seq, judged.row.digest});
}

Status write_receipt(Sql& sql, Arrival& arrival, const Case& judged,
                     const VerifiedBundle& verified) {
  Receipt receipt;
  receipt.site = arrival.site;
  receipt.run = judged.run;
  receipt.seq = verified.evidence.seq;
  receipt.digest = verified.digest;
  receipt.site_cas = verified.site_cas();
  receipt.time_ms = arrival.now_ms;
  receipt.judged_at_ms = instant_of(verified.evidence, arrival.now_ms);
  const LeafFiles& leaf = arrival.context.config->leaf;
  ReceiptRow row;
  row.run = RunId(judged.run);
  row.node = judged.row.node;
  row.receipt = TRY(sign_receipt(leaf.private_key_pem, leaf.certificate_chain_pem, receipt));
  return store::tell_site(sql, arrival.site, row.change(), arrival.touched);
}

Status write_clearance(Sql& sql, Arrival& arrival, const store::Evidence& evidence,
                       ClearanceVerdict verdict) {
  TRY(store::add_evidence(sql, evidence));
  ClearanceRow row;
  row.run = RunId(evidence.run);
  row.node = NodeId(evidence.node);
  row.verdict = verdict;
  row.digest = evidence.digest;
  row.policy_revision = evidence.policy_revision;
  row.lease = evidence.lease;
  row.at = format_time(evidence.received_at_ms);
  row.reason = evidence.reason;
  return store::tell_site(sql, arrival.site, row.change(), arrival.touched);
}

store::Evidence evidence_of(const Arrival& arrival, const Case& judged) {
  store::Evidence evidence;
  evidence.site = arrival.site;
  evidence.run = judged.run;
  evidence.node = judged.row.node.str();
  evidence.lease = judged.claims.lease;
  evidence.digest = judged.row.digest;
  evidence.seq = judged.claims.seq;
  evidence.policy_revision = judged.claims.policy.revision;
  evidence.received_at_ms = arrival.now_ms;
  return evidence;
}

Status settle(Sql& sql, Arrival& arrival, const Case& judged) {
  TRY(store::drop_pending(sql, arrival.site, judged.run));
  Records records = TRY(records_of(sql, arrival, judged));
  Checked<VerifiedBundle> verified = judge_case(judged, arrival.site, records, arrival.now_ms);
  TRY(advance_chain(sql, arrival, judged, records.head));
  store::Evidence evidence = evidence_of(arrival, judged);
  Json fields = {{"run", judged.run}, {"digest", judged.row.digest}, {"seq", judged.claims.seq}};
  if (verified.ok()) {
    evidence.verdict = "clean";
    TRY(write_clearance(sql, arrival, evidence, ClearanceVerdict::kClean));
    TRY(write_receipt(sql, arrival, judged, verified.value()));
    return tell_event(sql, arrival, "evidence.cleared", evidence.node, std::move(fields));
  }
  evidence.verdict = "refused";
  evidence.reason = verified.error().text();
  fields["reason"] = evidence.reason;
  log_line(LogEvent::kEvidenceRefused, {{"site", arrival.site},
                                        {"node", evidence.node},
                                        {"run", judged.run},
                                        {"reason", evidence.reason}});
  TRY(write_clearance(sql, arrival, evidence, ClearanceVerdict::kRefused));
  TRY(tell_event(sql, arrival, "evidence.refused", evidence.node, std::move(fields)));
  return quarantine_if_refused(sql, arrival, evidence.node);
}

// It comes once more after the coordinator's database was restored: the chain's head may be
// missing.
Status seen_again(Sql& sql, Arrival& arrival, const store::Evidence& known) {
  Case again = TRY(read_case(sql, arrival.site, known.run));
  store::ChainHead head = TRY(store::chain_head(sql, arrival.site));
  if (known.seq == 0) {
    TRY(store::put_evidence_seq(sql, arrival.site, known.run, again.claims.seq));
  }
  return advance_chain(sql, arrival, again, head);
}

}  // namespace

Status result_arrived(Sql& sql, Arrival& arrival, const RowChange& change) {
  if (change.row.is_null() || json_text(change.row, "kind") != "run") return {};
  const std::string run = json_text(change.row, "run");
  if (change.key != run + "-evidence") return {};  // no run evidence has another name
  std::optional<store::Evidence> known = TRY(store::find_evidence(sql, arrival.site, run));
  if (!known.has_value()) return store::add_pending(sql, arrival.site, run);
  if (known->digest == json_text(change.row, "digest")) {
    return seen_again(sql, arrival, *known);
  }
  // What was judged stays judged; a site that tells another story is shown to people.
  return tell_event(sql, arrival, "evidence.replaced", json_text(change.row, "node"),
                    {{"run", run}, {"digest", json_text(change.row, "digest")}});
}

Status judge_evidence(Sql& sql, Arrival& arrival) {
  std::vector<Case> cases;
  std::vector<std::string> pending = TRY(store::pending_of(sql, arrival.site));
  for (const std::string& run : pending) {
    cases.push_back(TRY(read_case(sql, arrival.site, run)));
  }
  std::stable_sort(cases.begin(), cases.end(),
                   [](const Case& a, const Case& b) { return a.claims.seq < b.claims.seq; });
  for (const Case& judged : cases) TRY(settle(sql, arrival, judged));
  return {};
}

Status quarantine_if_refused(Sql& sql, Arrival& arrival, const std::string& node) {
  Json row = TRY(store::site_row(sql, arrival.site, "node", node));
  if (json_text(row, "state") != "ready") return {};
  const std::string run = json_text(row, "cleanRun");
  std::optional<store::Evidence> evidence = TRY(store::find_evidence(sql, arrival.site, run));
  if (!evidence.has_value() || evidence->verdict != "refused") return {};
  if (TRY(store::has_unanswered_work(sql, arrival.site, node, "quarantine"))) return {};
  NewWork work;
  work.node = node;
  work.kind = "quarantine";
  work.expects = {{"state", "ready"}};
  work.reason = "the evidence of run " + run + " is refused: " + evidence->reason;
  work.by = "coordinator";
  std::string id = TRY(add_work(sql, arrival, work));
  return tell_event(sql, arrival, "node.quarantine-asked", node,
                    {{"work", id}, {"run", run}, {"reason", evidence->reason}});
}

namespace {

Status evidence_came_back(Sql& sql, const Arrival& arrival, const ClearanceRow& row) {
  std::optional<store::Evidence> known =
      TRY(store::find_evidence(sql, arrival.site, row.run.str()));
  if (known.has_value()) return {};
  Case judged = TRY(read_case(sql, arrival.site, row.run.str()));
  store::Evidence evidence = evidence_of(arrival, judged);
  evidence.node = row.node.str();
  evidence.lease = row.lease;
  evidence.digest = row.digest;
  evidence.verdict = clearance_verdict_name(row.verdict);
  evidence.reason = row.reason;
  evidence.policy_revision = row.policy_revision;
  evidence.received_at_ms = parse_time(row.at).value_or(arrival.now_ms);
  return store::add_evidence(sql, evidence);
}

}  // namespace

// A refusal is believed; what is clean is so by the coordinator's own signature only.
Status clearance_came_back(Sql& sql, Arrival& arrival, const RowChange& change) {
  Result<ClearanceRow> row = ClearanceRow::parse(change.row);
  if (!row.ok() || row.value().verdict != ClearanceVerdict::kRefused) return {};
  return evidence_came_back(sql, arrival, row.value());
}

Status receipt_came_back(Sql& sql, Arrival& arrival, const RowChange& change) {
  Json kept = TRY(store::site_row(sql, arrival.site, "clearance", change.key));
  Result<ClearanceRow> clearance = ClearanceRow::parse(kept);
  if (!clearance.ok()) return {};
  const CoordinatorConfig& config = *arrival.context.config;
  Checked<Receipt> receipt =
      check_receipt(json_member(change.row, "receipt"), {config.root_pem, config.domain, {}});
  const bool vouches = receipt.ok() && receipt.value().site == arrival.site &&
                       receipt.value().run == change.key &&
                       receipt.value().digest == clearance.value().digest;
  if (vouches) return evidence_came_back(sql, arrival, clearance.value());
  return tell_event(sql, arrival, "receipt.not-ours", json_text(change.row, "node"),
                    {{"run", change.key}});
}

}  // namespace leasehold
