#include "coordinator/cli/overview.h"

#include "coordinator/cli/nodes.h"

namespace leasehold {
namespace {

constexpr int64_t kDayMs = 24LL * 3600 * 1000;

std::string counts_text(const Json& counts) {
  if (!counts.is_object()) return counts.is_null() ? "" : dump_json(counts);
  std::string out;
  for (const auto& [name, count] : counts.items()) {
    out += (out.empty() ? "" : ", ") + cell_text(counts, name) + " " + name;
  }
  return out.empty() ? "none" : out;
}

// Failed machines, each with what to do: what an operator came to see.
Status print_failed(Session& session) {
  const Console& console = session.console;
  const Json failed = TRY(session.api.list("/v1/nodes", {{"state", "failed"}}, 20));
  std::vector<Field> fields;
  for (const Json& node : failed) {
    const Json& failure = json_member(node, "failure");
    for (const Field& field :
         failure_fields(json_text(failure, "code"), json_text(failure, "message"))) {
      fields.push_back({field.name.empty() ? "" : harmless(place_name(node)), field.value});
    }
  }
  if (fields.empty()) return {};
  console.print("\nfailed machines:\n");
  console.print_fields(fields);
  if (failed.size() == 20) console.print("all of them: leasehold node list --state failed\n");
  return {};
}

}  // namespace

Status whoami(Session& session) {
  const Console& console = session.console;
  Json who = TRY(session.api.get("/v1/whoami"));
  const ClientConfig& config = session.api.config();
  const std::string until = format_time(config.own.not_after_ms);
  if (console.json) {
    who["certificateNotAfter"] = until;
    who["url"] = config.url;
    console.print_json(who);
    return {};
  }
  std::vector<Field> fields = {{"identity", json_text(who, "identity")},
                               {"kind", json_text(who, "kind")},
                               {"name", json_text(who, "name")}};
  if (!json_text(who, "tenant").empty()) fields.push_back({"tenant", json_text(who, "tenant")});
  fields.push_back({"valid until", console.time_long(until)});
  fields.push_back({"coordinator", config.url});
  console.print_fields(fields);
  if (config.own.not_after_ms - console.clock.now_ms() < 7 * kDayMs) {
    console.note("your certificate ends soon: have a new one issued");
  }
  return {};
}

Status overview(Session& session) {
  const Console& console = session.console;
  const Json status = TRY(session.api.get("/v1/status"));
  if (console.json) {
    console.print_json(status);
    return {};
  }
  console.print_fields({{"coordinator", session.api.config().url},
                        {"domain", json_text(status, "domain")},
                        {"version", json_text(status, "version")},
                        {"time", console.time_long(json_text(status, "time"))},
                        {"sites", counts_text(json_member(status, "sites"))},
                        {"nodes", counts_text(json_member(status, "nodes"))},
                        {"open runs", cell_text(status, "openRuns")}});
  const Json& alarms = json_member(status, "alarms");
  if (alarms.is_array() && !alarms.empty()) {
    Table table({{"ALARM"}, {"SITE", Shorten::kMiddle, 8}, {"MESSAGE", Shorten::kEnd, 20}});
    for (const Json& alarm : alarms) {
      table.add({json_text(alarm, "code"), json_text(alarm, "site"), json_text(alarm, "message")});
    }
    console.print("\n" + table.text(console.width));
  }
  return print_failed(session);
}

}  // namespace leasehold
