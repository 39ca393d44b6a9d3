// Evidence of teardowns: what became of it, and the files.
#include <charconv>

#include "coordinator/api/routes.h"
#include "coordinator/store/evidence.h"
#include "coordinator/store/site_rows.h"
#include "core/evidence/bundle_rows.h"

namespace leasehold {
namespace {

constexpr const char* kContentType = "application/vnd.leasehold.evidence+json";

Json view_of(const store::Evidence& evidence) {
  return {{"n", evidence.n},
          {"site", evidence.site},
          {"run", evidence.run},
          {"node", evidence.node},
          {"lease", evidence.lease},
          {"digest", evidence.digest},
          {"seq", evidence.seq},
          {"verdict", evidence.verdict},
          {"reason", evidence.reason},
          {"policyRevision", evidence.policy_revision},
          {"receivedAt", format_time(evidence.received_at_ms)}};
}

Result<Reply> list_evidence(const CentreContext&, Sql& sql, Call& call) {
  Page page = TRY(page_of(call));
  store::EvidenceQuery query;
  query.site = call.text("site");
  query.node = call.text("node");
  query.before = TRY(call.number("after", 0, INT64_MAX));
  query.limit = page.limit + 1;
  std::vector<Json> items;
  for (const store::Evidence& evidence : TRY(store::list_evidence(sql, query))) {
    items.push_back(view_of(evidence));
  }
  return reply(page_json(std::move(items), page, [](const Json& item) {
    return std::to_string(item["n"].get<int64_t>());
  }));
}

Result<Reply> get_bundle(const CentreContext&, Sql& sql, Call& call) {
  const std::string& site = call.args[0];
  const std::string& run = call.args[1];
  std::vector<ResultRow> results;
  for (const Json& row : TRY(store::site_rows_of_run(sql, site, "result", run))) {
    results.push_back(TRY(ResultRow::parse(row)));
  }
  if (results.empty()) {
    return Error(Code::kNotFound,
                 "there is no evidence of run \"" + run.substr(0, 64) + "\" at site \"" +
                     site.substr(0, 64) + "\"",
                 "run");
  }
  Json receipt = TRY(store::site_row(sql, site, "receipt", run));
  std::string text = TRY(bundle_of(results, json_member(receipt, "receipt")));
  return reply_bytes(std::move(text), kContentType);
}

}  // namespace

std::vector<Route> evidence_routes() {
  return {{"GET", "/v1/evidence", MayCall::kOperator, "site node limit after", list_evidence},
          {"GET", "/v1/evidence/*/*", MayCall::kOperator, "", get_bundle}};
}

}  // namespace leasehold
