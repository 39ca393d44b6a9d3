#include "core/hardware_profile/hardware_profile.h"

#include "core/base/ids.h"
#include "core/base/limits.h"
#include "core/rows/field.h"
#include "core/rows/row.h"

namespace leasehold {
namespace {

Result<std::vector<std::string>> parse_globs(const Json& rule, const char* key) {
  std::vector<std::string> globs;
  if (json_member(rule, key).is_null()) return globs;
  Json list = TRY(json_array(rule, key));
  for (const Json& glob : list) {
    if (!glob.is_string() || glob.get<std::string>().empty()) {
      return Error(Code::kInvalidInput, "it must list patterns, such as \"BMC*\"", key);
    }
    globs.push_back(glob.get<std::string>());
  }
  return globs;
}

Status parse_form(const Json& json, ComponentRule& rule) {
  std::string form = TRY(json_string_or(json, "normalise", "exact"));
  rule.prefix = TRY(json_string_or(json, "prefix", ""));
  if (form == "exact") {
    rule.form = VersionForm::kExact;
  } else if (form == "trim") {
    rule.form = VersionForm::kTrim;
  } else if (form == "strip-prefix") {
    rule.form = VersionForm::kStripPrefix;
  } else if (form == "dotted") {
    rule.form = VersionForm::kDotted;
  } else {
    return Error(Code::kInvalidInput,
                 "\"" + form.substr(0, 64) + "\" is none of exact, trim, strip-prefix, dotted",
                 "normalise");
  }
  if ((rule.form == VersionForm::kStripPrefix) == rule.prefix.empty()) {
    return Error(Code::kInvalidInput, "\"prefix\" goes with \"normalise\": \"strip-prefix\"",
                 "prefix");
  }
  return {};
}

Result<ComponentRule> parse_rule(const Json& json) {
  TRY(check_keys(json, {"ids", "names", "normalise", "prefix"}, "a component's rule"));
  ComponentRule rule;
  rule.ids = TRY(parse_globs(json, "ids"));
  rule.names = TRY(parse_globs(json, "names"));
  if (rule.ids.empty() && rule.names.empty()) {
    return Error(Code::kInvalidInput, "it must have a pattern, or it never finds anything", "ids");
  }
  TRY(parse_form(json, rule));
  return rule;
}

Result<std::map<std::string, ComponentRule>> parse_components(const Json& row) {
  std::map<std::string, ComponentRule> components;
  const Json& object = json_member(row, "components");
  if (!object.is_object()) return Error(Code::kInvalidInput, "it must be an object of rules");
  for (const auto& [component, rule] : object.items()) {
    if (!is_valid_id(component)) {
      return Error(Code::kInvalidInput, "a component id is of a-z, 0-9 and '-'",
                   component.substr(0, 64));
    }
    components[component] = TRY(in_field(component, parse_rule(rule)));
  }
  return components;
}

Result<MachineRule> parse_machine(const Json& json) {
  TRY(check_keys(json, {"manufacturers", "products", "disks", "gpus"}, "a profile's machine"));
  MachineRule rule;
  rule.manufacturers = TRY(parse_globs(json, "manufacturers"));
  rule.products = TRY(parse_globs(json, "products"));
  rule.disks = TRY(json_int_or(json, "disks", 0));
  if (rule.disks < 0) return Error(Code::kInvalidInput, "it is a number of disks", "disks");
  if (!json_member(json, "gpus").is_null()) {
    int64_t gpus = TRY(json_int(json, "gpus"));
    if (gpus < 0) return Error(Code::kInvalidInput, "it is a number of GPUs", "gpus");
    rule.gpus = gpus;
  }
  return rule;
}

Result<std::vector<std::string>> parse_bmc(const Json& json) {
  TRY(check_keys(json, {"accounts"}, "a profile's bmc"));
  std::vector<std::string> accounts;
  Json list = TRY(json_array(json, "accounts"));
  for (const Json& name : list) {
    if (!name.is_string() || name.get<std::string>().empty()) {
      return Error(Code::kInvalidInput, "it must list user names, such as \"noc\"", "accounts");
    }
    accounts.push_back(name.get<std::string>());
  }
  return accounts;
}

Result<ProfileBootTarget> parse_boot(const Json& boot) {
  TRY(check_keys(boot, {"target"}, "a profile's boot"));
  std::string target = TRY(json_string(boot, "target"));
  if (target == "Pxe") return ProfileBootTarget::kPxe;
  if (target == "UefiHttp") return ProfileBootTarget::kUefiHttp;
  return Error(Code::kInvalidInput, "\"" + target.substr(0, 64) + "\" is none of Pxe, UefiHttp",
               "target");
}

Result<int64_t> parse_seconds(const Json& timeouts, const char* key, int64_t fallback) {
  int64_t seconds = TRY(json_int_or(timeouts, key, fallback));
  if (seconds < 1 || seconds > limits::kProfileTimeoutS) {
    return Error(Code::kInvalidInput,
                 "it must be 1 to " + std::to_string(limits::kProfileTimeoutS) + " seconds", key);
  }
  return seconds;
}

Status parse_timeouts(const Json& timeouts, HardwareProfile& out) {
  TRY(check_keys(timeouts,
                 {"power_off_s", "power_on_s", "call_home_s", "ramdisk_silent_s", "off_reread_ms",
                  "rotation_s"},
                 "a profile's timeouts"));
  out.power_off_s = TRY(parse_seconds(timeouts, "power_off_s", out.power_off_s));
  out.power_on_s = TRY(parse_seconds(timeouts, "power_on_s", out.power_on_s));
  out.rotation_s = TRY(parse_seconds(timeouts, "rotation_s", out.rotation_s));
  out.off_reread_ms = TRY(parse_seconds(timeouts, "off_reread_ms", out.off_reread_ms));
  out.call_home_s = TRY(parse_seconds(timeouts, "call_home_s", out.call_home_s));
  out.ramdisk_silent_s = TRY(parse_seconds(timeouts, "ramdisk_silent_s", out.ramdisk_silent_s));
  return {};
}

Result<Vetting> parse_vetting(const Json& vetted) {
  TRY(check_keys(vetted, {"by", "why"}, "a profile's vetting"));
  Vetting vetting{TRY(json_string(vetted, "by")), TRY(json_string(vetted, "why"))};
  if (vetting.by.empty()) return Error(Code::kInvalidInput, "somebody must stand for it", "by");
  if (vetting.why.empty())
    return Error(Code::kInvalidInput, "it must say what was looked at", "why");
  return vetting;
}

Status parse_driver(const Json& row, HardwareProfile& out) {
  out.driver = TRY(json_string_or(row, "driver", out.driver));
  if (out.driver == "redfish") return {};
  return Error(Code::kInvalidInput,
               "\"" + out.driver.substr(0, 64) + "\" is no driver; use redfish", "driver");
}

}  // namespace

Result<HardwareProfile> HardwareProfile::parse(const Json& row) {
  TRY(check_keys(row,
                 {"table", "schema", "profile", "revision", "driver", "components", "machine",
                  "bmc", "boot", "timeouts", "vetted"},
                 "a hardware_profile row"));
  RowChange change = TRY(parse_row(row));
  if (change.table != "hardware_profile") {
    return Error(Code::kInvalidInput, "this is a row of " + change.table, "table");
  }
  HardwareProfile out;
  out.name = change.key;
  out.revision = TRY(json_int(row, "revision"));
  if (out.revision < 1) return Error(Code::kInvalidInput, "revisions start at 1", "revision");
  TRY(parse_driver(row, out));
  if (!json_member(row, "components").is_null()) {
    out.components = TRY(in_field("components", parse_components(row)));
  }
  if (!json_member(row, "machine").is_null()) {
    out.machine = TRY(in_field("machine", parse_machine(json_member(row, "machine"))));
  }
  if (!json_member(row, "bmc").is_null()) {
    out.bmc_accounts = TRY(in_field("bmc", parse_bmc(json_member(row, "bmc"))));
  }
  if (!json_member(row, "boot").is_null()) {
    out.boot_target = TRY(in_field("boot", parse_boot(json_member(row, "boot"))));
  }
  if (!json_member(row, "timeouts").is_null()) {
    TRY(in_field("timeouts", parse_timeouts(json_member(row, "timeouts"), out)));
  }
  if (!json_member(row, "vetted").is_null()) {
    out.vetted = TRY(in_field("vetted", parse_vetting(json_member(row, "vetted"))));
  }
  return out;
}

bool glob_matches(std::string_view glob, std::string_view text) {
  size_t at = 0;
  size_t in_text = 0;
  size_t star = std::string_view::npos;  // the last * seen, and where its run ended so far
  size_t run_end = 0;
  while (in_text < text.size()) {
    if (at < glob.size() && glob[at] == '*') {
      star = at++;
      run_end = in_text;
    } else if (at < glob.size() && (glob[at] == '?' || glob[at] == text[in_text])) {
      ++at;
      ++in_text;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_text = ++run_end;
    } else {
      return false;
    }
  }
  while (at < glob.size() && glob[at] == '*') ++at;
  return at == glob.size();
}

}  // namespace leasehold
