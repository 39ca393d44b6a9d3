#include "firmware/components.h"

#include <algorithm>
#include <vector>

namespace leasehold {
namespace {

std::string trimmed(const std::string& text) {
  constexpr const char* kBlanks = " \t\r\n";
  size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool is_number(const std::string& part) {
  return !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
}

std::string dotted(const std::string& version) {
  std::string out;
  for (size_t start = 0; start <= version.size();) {
    size_t end = std::min(version.find('.', start), version.size());
    std::string part = version.substr(start, end - start);
    if (is_number(part)) part.erase(0, std::min(part.find_first_not_of('0'), part.size() - 1));
    out += (start == 0 ? "" : ".") + part;
    start = end + 1;
  }
  return out;
}

bool matches_any(const std::vector<std::string>& globs, const std::string& text) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return glob_matches(glob, text); });
}

bool claims(const ComponentRule& rule, const FirmwareItem& item) {
  return matches_any(rule.ids, item.id) || matches_any(rule.names, item.name);
}

// The version on which all entries of a component agree, or why there is none.
struct Agreement {
  std::string version;
  std::string why_not;
};

Agreement agree(const ComponentRule& rule, const FirmwareInventory& inventory) {
  Agreement result;
  std::string first_id;
  for (const FirmwareItem& item : inventory.items) {
    if (!claims(rule, item)) continue;
    if (!item.enabled) return {"", "\"" + item.id + "\" is listed but not enabled"};
    std::string version = version_in_form(rule, item.version);
    if (version.empty()) return {"", "\"" + item.id + "\" reports no version"};
    if (first_id.empty()) {
      first_id = item.id;
      result.version = version;
    } else if (version != result.version) {
      return {"", "\"" + first_id + "\" reports " + result.version + ", \"" + item.id +
                      "\" reports " + version};
    }
  }
  if (first_id.empty()) result.why_not = "no entry of the inventory matches its rule";
  return result;
}

}  // namespace

std::string version_in_form(const ComponentRule& rule, const std::string& reported) {
  // A version of blanks alone says nothing, in whatever form.
  std::string version = trimmed(reported);
  switch (rule.form) {
    case VersionForm::kExact:
      return version.empty() ? "" : reported;
    case VersionForm::kTrim:
      return version;
    case VersionForm::kDotted:
      return dotted(version);
    case VersionForm::kStripPrefix:
      if (version.starts_with(rule.prefix)) version.erase(0, rule.prefix.size());
      return version;
  }
  return "";
}

FirmwareReading read_components(const FirmwareInventory& inventory, const ComponentRules& rules) {
  FirmwareReading reading;
  for (const auto& [component, rule] : rules) {
    Agreement agreement = agree(rule, inventory);
    if (!inventory.complete) agreement = {"", "the BMC's firmware inventory is incomplete"};
    if (agreement.version.empty()) {
      reading.unknown[component] = agreement.why_not;
    } else {
      reading.found[component] = agreement.version;
    }
  }
  for (const FirmwareItem& item : inventory.items) {
    bool claimed = std::any_of(rules.begin(), rules.end(),
                               [&](const auto& rule) { return claims(rule.second, item); });
    if (!claimed) reading.listed[item.id] = item.version;
  }
  return reading;
}

}  // namespace leasehold
