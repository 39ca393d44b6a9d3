#include "coordinator/cli/sites.h"

#include "core/base/files.h"

namespace leasehold {
namespace {

std::string site_path(const std::string& site) { return "/v1/sites/" + url_part(site); }

// The end of the newest site CA.
std::string site_ca_until(const Json& site) {
  std::string until;
  const Json& authorities = json_member(site, "siteCas");
  if (!authorities.is_array()) return until;
  for (const Json& each : authorities) until = std::max(until, json_text(each, "notAfter"));
  return until;
}

std::string alarm_text(const Json& site) {
  const Json& alarm = json_member(site, "alarm");
  if (!alarm.is_object()) return "";
  return json_text(alarm, "code") + ": " + json_text(alarm, "message");
}

std::string join_command(const Session& session, const Json& token, const std::string& file) {
  const std::string address = session.api.config().address;
  std::string out =
      "  leasehold-agent site join --coordinator " + json_text(token, "url") + " \\\n";
  if (!address.empty()) out += "    --address " + address + " \\\n";
  return out + "    --site " + json_text(token, "site") + " --token-file " + file +
         " --out /etc/leasehold/site \\\n    --root-sha256 " + json_text(token, "rootSha256") +
         " \\\n    --gateway-dns NAME --gateway-ip ADDRESS\n";
}

std::string harmless_lines(const std::string& text) {
  std::string out;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    out += harmless(std::string_view(text).substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return out;
}

}  // namespace

Status site_create(Session& session, const std::string& site) {
  TRY(check_id(site, "SITE"));
  const Json created = TRY(session.api.send("POST", "/v1/sites", {{"site", site}}));
  if (session.console.json) {
    session.console.print_json(created);
  } else {
    session.console.print(
        "site " + site + " created. Let it join with a token: leasehold site token " + site + "\n");
  }
  return {};
}

Status site_list(Session& session) {
  const Json sites = TRY(session.api.list("/v1/sites", {}));
  if (session.console.json) {
    session.console.print_json({{"items", sites}});
    return {};
  }
  Table table({{"SITE", Shorten::kMiddle, 12},
               {"STATE"},
               {"LAST CONTACT"},
               {"BEHIND", Shorten::kNever, 0, false, false, true},
               {"SITE CA UNTIL", Shorten::kNever, 0, true},
               {"ALARM", Shorten::kEnd, 16, false, true}});
  for (const Json& site : sites) {
    const std::string contact = session.console.time(json_text(site, "lastContactAt"));
    table.add({json_text(site, "site"), json_text(site, "state"),
               contact.empty() ? "never" : contact, cell_text(site, "behind"),
               session.console.time(site_ca_until(site)), alarm_text(site)});
  }
  session.console.print_table(table, "no sites yet: make one with leasehold site create SITE");
  return {};
}

Status site_show(Session& session, const std::string& site) {
  TRY(check_id(site, "SITE"));
  const Json row = TRY(session.api.get(site_path(site)));
  const Console& console = session.console;
  if (console.json) {
    console.print_json(row);
    return {};
  }
  const std::string contact = json_text(row, "lastContactAt");
  std::vector<Field> fields = {
      {"site", json_text(row, "site")},
      {"state", json_text(row, "state") == "created"
                    ? "created, not joined yet: leasehold site token " + site
                    : json_text(row, "state")},
      {"last contact", contact.empty() ? "never" : console.time_long(contact)},
      {"incarnation", cell_text(row, "incarnation")},
      {"acknowledged", cell_text(row, "acknowledged")},
      {"behind", cell_text(row, "behind")}};
  const Json& authorities = json_member(row, "siteCas");
  for (size_t i = 0; authorities.is_array() && i < authorities.size(); ++i) {
    fields.push_back(
        {i == 0 ? "site CA" : "", json_text(authorities[i], "sha256") + ", until " +
                                      console.time_long(json_text(authorities[i], "notAfter"))});
  }
  if (!alarm_text(row).empty()) fields.push_back({"ALARM", alarm_text(row)});
  console.print_fields(fields);
  return {};
}

Status site_takeover(Session& session, const std::string& site, bool yes) {
  TRY(check_id(site, "SITE"));
  const Json row = TRY(session.api.get(site_path(site)));
  const Json& former = json_member(row, "former");
  if (former.is_object()) {
    TRY(confirm(session.console, yes,
                "The former agent of site " + site + " was last heard at " +
                    session.console.time_long(json_text(former, "heardAt")) +
                    ". If its box runs still, two agents will act on the same machines",
                site));
  }
  const Json taken = TRY(session.api.send("POST", site_path(site) + "/takeover", Json::object()));
  if (session.console.json) {
    session.console.print_json(taken);
  } else {
    session.console.print("site " + site + " is the newest agent's; it acts within seconds\n");
  }
  return {};
}

Status site_token(Session& session, const SiteTokenOptions& options) {
  TRY(check_id(options.site, "SITE"));
  Json token = TRY(session.api.send("POST", site_path(options.site) + "/token", Json::object()));
  const std::string secret = TRY_WITH(json_string(token, "token"), "the coordinator's answer");
  if (!options.out.empty()) {
    TRY(write_file_atomic(options.out, secret + "\n", 0600));
    token.erase("token");
    token["tokenFile"] = options.out;
  }
  const Console& console = session.console;
  if (console.json) {
    console.print_json(token);
    return {};
  }
  console.print(
      "Token of site " + options.site + ", good once, until " +
      console.time_long(json_text(token, "expiresAt")) +
      (options.out.empty() ? ":\n  " + harmless(secret) : ": in " + harmless(options.out)) +
      "\nAt the site" + (options.out.empty() ? ", with the token in a file of mode 0600" : "") +
      ":\n" +
      harmless_lines(join_command(session, token, options.out.empty() ? "FILE" : options.out)));
  return {};
}

}  // namespace leasehold
