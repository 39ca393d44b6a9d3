#include "coordinator/cli/pools.h"

namespace leasehold {
namespace {

std::string profile_path(const std::string& profile) {
  return "/v1/hardware-profiles/" + url_part(profile);
}
std::string pool_path(const std::string& pool) { return "/v1/pools/" + url_part(pool); }

std::string revision_text(const Json& row) { return cell_text(row, "revision"); }

std::string vetted_text(const Json& profile) {
  const Json& vetted = json_member(profile, "vetted");
  return vetted.is_null() ? "no" : "by " + json_text(vetted, "by");
}

std::string component_names(const Json& profile) {
  std::string out;
  const Json& components = json_member(profile, "components");
  if (!components.is_object()) return out;
  for (const auto& [name, rule] : components.items()) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string versions_text(const Json& baseline) {
  std::string out;
  if (!baseline.is_object()) return out;
  for (const auto& [name, version] : baseline.items()) {
    out += (out.empty() ? "" : ", ") + name + " " + cell_text(baseline, name);
  }
  return out;
}

std::string ignored_text(const Json& pool) {
  const std::string ignored = joined(json_member(pool, "ignoredImages"));
  return ignored.empty() ? ""
                         : "not used, because they are not https with 64 hex digits: " + ignored;
}

// A member of the policy that is no object, as it stands; the objects have lines of their own.
std::vector<Field> policy_fields(const Json& policy) {
  std::vector<Field> fields;
  if (!policy.is_object()) return fields;
  for (const auto& [name, value] : policy.items()) {
    if (name == "firmwareBaseline") {
      fields.push_back({"  " + name, versions_text(value)});
    } else {
      fields.push_back(
          {"  " + name, value.is_object() ? dump_json(value) : cell_text(policy, name)});
    }
  }
  return fields;
}

void print_pool(const Console& console, const Json& pool) {
  std::vector<Field> fields = {{"pool", json_text(pool, "pool")},
                               {"site", json_text(pool, "siteId")},
                               {"tenant", json_text(pool, "tenantId")},
                               {"class", json_text(pool, "class")},
                               {"agent", json_text(pool, "agent")},
                               {"allow unvetted", cell_text(pool, "allowUnvetted")},
                               {"policy", "revision " + revision_text(pool)}};
  for (Field& field : policy_fields(json_member(pool, "policy"))) {
    fields.push_back(std::move(field));
  }
  if (!ignored_text(pool).empty()) fields.push_back({"images", ignored_text(pool)});
  console.print_fields(fields);
}

void print_written_pool(const Console& console, const Json& pool, const std::string& what) {
  if (console.json) return console.print_json(pool);
  console.print("pool " + harmless(json_text(pool, "pool")) + " " + what + ": policy revision " +
                harmless(revision_text(pool)) + "\n");
  if (!ignored_text(pool).empty()) console.note("firmware images " + ignored_text(pool));
}

}  // namespace

Status hardware_profile_import(Session& session, const std::string& file) {
  const Json profile = TRY(read_named_json(file, "FILE"));
  const Json row = TRY(session.api.send("POST", "/v1/hardware-profiles", profile));
  if (session.console.json) {
    session.console.print_json(row);
  } else {
    session.console.print("hardware profile " + harmless(json_text(row, "profile")) +
                          " is at revision " + harmless(revision_text(row)) + "\n");
  }
  return {};
}

Status hardware_profile_list(Session& session) {
  const Json profiles = TRY(session.api.list("/v1/hardware-profiles", {}));
  if (session.console.json) {
    session.console.print_json({{"items", profiles}});
    return {};
  }
  Table table({{"PROFILE", Shorten::kMiddle, 12},
               {"REVISION", Shorten::kNever, 0, false, false, true},
               {"DRIVER"},
               {"VETTED", Shorten::kEnd, 10},
               {"COMPONENTS", Shorten::kEnd, 12}});
  for (const Json& profile : profiles) {
    table.add({json_text(profile, "profile"), revision_text(profile), json_text(profile, "driver"),
               vetted_text(profile), component_names(profile)});
  }
  session.console.print_table(table,
                              "no hardware profiles yet: leasehold hardware-profile import FILE");
  return {};
}

// A profile is what its file holds: it is shown as one, and can be imported again.
Status hardware_profile_show(Session& session, const std::string& profile) {
  TRY(check_id(profile, "PROFILE"));
  session.console.print_json(TRY(session.api.get(profile_path(profile))));
  return {};
}

Status pool_create(Session& session, const PoolCreateOptions& options) {
  TRY(check_id(options.pool, "POOL"));
  TRY(check_id(options.site, "--site"));
  const Json policy = TRY(read_named_json(options.policy_file, "--policy"));
  const Json body = {{"pool", options.pool},
                     {"tenantId", options.tenant},
                     {"siteId", options.site},
                     {"class", options.pool_class},
                     {"agent", options.agent},
                     {"policy", policy},
                     {"allowUnvetted", options.allow_unvetted}};
  print_written_pool(session.console, TRY(session.api.send("POST", "/v1/pools", body)), "created");
  return {};
}

Status pool_set_policy(Session& session, const std::string& pool, const std::string& policy_file,
                       bool allow_unvetted) {
  TRY(check_id(pool, "POOL"));
  const Json policy = TRY(read_named_json(policy_file, "--policy"));
  Json body = {{"policy", policy}};
  if (allow_unvetted) body["allowUnvetted"] = true;
  const Json row = TRY(session.api.send("PUT", pool_path(pool) + "/policy", body));
  print_written_pool(session.console, row, "has its new policy");
  return {};
}

Status pool_list(Session& session, const std::string& site) {
  Json pools = TRY(session.api.list("/v1/pools", {}));
  if (!site.empty()) {
    Json here = Json::array();
    for (const Json& pool : pools) {
      if (json_text(pool, "siteId") == site) here.push_back(pool);
    }
    pools = std::move(here);
  }
  if (session.console.json) {
    session.console.print_json({{"items", pools}});
    return {};
  }
  Table table({{"POOL", Shorten::kMiddle, 12},
               {"SITE", Shorten::kMiddle, 8},
               {"AGENT"},
               {"REVISION", Shorten::kNever, 0, false, false, true},
               {"PROFILE", Shorten::kMiddle, 12},
               {"BASELINE", Shorten::kEnd, 12},
               {"CLASS", Shorten::kEnd, 12, true}});
  for (const Json& pool : pools) {
    const Json& policy = json_member(pool, "policy");
    table.add({json_text(pool, "pool"), json_text(pool, "siteId"), json_text(pool, "agent"),
               revision_text(pool), json_text(policy, "hardwareProfile"),
               versions_text(json_member(policy, "firmwareBaseline")), json_text(pool, "class")});
  }
  session.console.print_table(
      table, site.empty() ? "no pools yet: leasehold pool create POOL --site SITE --policy FILE"
                          : "site " + harmless(site) + " has no pools");
  return {};
}

Status pool_show(Session& session, const std::string& pool) {
  TRY(check_id(pool, "POOL"));
  const Json row = TRY(session.api.get(pool_path(pool)));
  if (session.console.json) {
    session.console.print_json(row);
  } else {
    print_pool(session.console, row);
  }
  return {};
}

}  // namespace leasehold
