#include "coordinator/cli/evidence_files.h"

#include <unistd.h>

#include "core/base/files.h"
#include "core/base/limits.h"

namespace leasehold {
namespace {

// Evidence is kept for years: a file that is something else is not replaced by mistake.
Status check_free(const std::string& path, const std::string& bundle, bool force) {
  if (force || ::access(path.c_str(), F_OK) != 0) return {};
  const Result<std::string> there = read_file(path, limits::kEvidenceBytes);
  if (there.ok() && there.value() == bundle) return {};
  return Error(Code::kConflict, path + " holds something else: choose another file, or say --force",
               "--out");
}

}  // namespace

Status evidence_list(Session& session, const EvidenceListOptions& options) {
  const Console& console = session.console;
  Query query = {{"site", options.site}, {"node", options.node}};
  if (!options.node.empty()) {
    const Json node = TRY(find_in_sites(session, "nodes", options.node));
    query = {{"site", json_text(node, "site")}, {"node", json_text(node, "node")}};
  }
  const Json items = TRY(session.api.list("/v1/evidence", query, options.most));
  if (console.json) {
    console.print_json({{"items", items}});
    return {};
  }
  Table table({{"RUN", Shorten::kMiddle, 24},
               {"NODE", Shorten::kMiddle, 8},
               {"VERDICT"},
               {"RECEIVED"},
               {"DIGEST", Shorten::kMiddle, 13},
               {"REASON", Shorten::kEnd, 12, false, true},
               {"SEQ", Shorten::kNever, 0, true, false, true},
               {"POLICY", Shorten::kNever, 0, true, false, true},
               {"LEASE", Shorten::kMiddle, 10, true, true}});
  for (const Json& each : items) {
    table.add({place_name(each, "run"), json_text(each, "node"), json_text(each, "verdict"),
               console.time(json_text(each, "receivedAt")), json_text(each, "digest"),
               json_text(each, "reason"), cell_text(each, "seq"), cell_text(each, "policyRevision"),
               json_text(each, "lease")});
  }
  const bool all = options.site.empty() && options.node.empty();
  console.print_table(table, all ? "no evidence yet: it comes from runs that enrol or release a "
                                   "machine"
                                 : "no evidence of that; all of it: leasehold evidence list");
  if (options.most != 0 && items.size() == options.most) {
    console.note("these are " + std::to_string(options.most) + "; --limit 0 for all");
  }
  return {};
}

Status evidence_export(Session& session, const EvidenceExportOptions& options) {
  const Console& console = session.console;
  const Json run = TRY(find_in_sites(session, "runs", options.run));
  const std::string bundle = TRY(session.api.get_bytes(path_of("evidence", run, "run")));
  if (options.out == "-") {
    console.print(bundle);
    return {};
  }
  TRY(check_free(options.out, bundle, options.force));
  TRY(write_file_atomic(options.out, bundle, 0644));
  if (console.json) {
    console.print_json({{"site", json_text(run, "site")},
                        {"run", json_text(run, "run")},
                        {"file", options.out},
                        {"bytes", bundle.size()}});
    return {};
  }
  console.print(harmless("evidence of " + place_name(run, "run") + " is in " + options.out + " (" +
                         std::to_string(bundle.size()) +
                         " bytes); check it: leasehold evidence verify " + options.out) +
                "\n");
  return {};
}

}  // namespace leasehold
