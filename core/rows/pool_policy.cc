#include "core/rows/pool_policy.h"

#include <algorithm>
#include <array>

#include "core/base/limits.h"
#include "core/rows/field.h"
#include "core/rows/row.h"

namespace leasehold {
namespace {

// A member that is one of a few words; the position of the word is the enumerator.
template <class Enum, size_t N>
Result<Enum> word(const Json& object, const char* key, const std::array<std::string_view, N>& words,
                  Enum fallback) {
  if (json_member(object, key).is_null()) return fallback;
  std::string text = TRY(json_string(object, key));
  for (size_t i = 0; i < N; ++i) {
    if (words[i] == text) return static_cast<Enum>(i);
  }
  std::string message = "\"" + text.substr(0, 64) + "\" is none of";
  for (std::string_view known : words) message += " " + std::string(known);
  return Error(Code::kInvalidInput, message, key);
}

constexpr std::array<std::string_view, 2> kAgents = {"ramdisk", "none"};
constexpr std::array<std::string_view, 2> kRemediations = {"quarantine", "reflash"};
constexpr std::array<std::string_view, 2> kReflashes = {"on-drift", "always"};
constexpr std::array<std::string_view, 3> kBindings = {"network", "vmedia", "tpm"};
constexpr std::array<std::string_view, 2> kWipes = {"clear", "purge"};
constexpr std::array<std::string_view, 2> kReadbacks = {"sample", "full"};
constexpr std::array<std::string_view, 2> kTpmRefusals = {"quarantine", "record"};

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c; });
  return text;
}

Result<std::map<std::string, std::string>> parse_baseline(const Json& policy) {
  std::map<std::string, std::string> baseline;
  if (json_member(policy, "firmwareBaseline").is_null()) return baseline;
  Json object = TRY(json_object(policy, "firmwareBaseline"));
  for (const auto& [component, version] : object.items()) {
    std::string field = "firmwareBaseline." + component.substr(0, 64);
    if (!is_valid_id(component)) {
      return Error(Code::kInvalidInput, "a component id is of a-z, 0-9 and '-'", field);
    }
    if (!version.is_string() || version.get<std::string>().empty()) {
      return Error(Code::kInvalidInput, "a version is a text that is not empty", field);
    }
    baseline[component] = version.get<std::string>();
  }
  return baseline;
}

Status parse_images(const Json& policy, PoolPolicy& out) {
  if (json_member(policy, "firmwareImages").is_null()) return {};
  Json object = TRY(json_object(policy, "firmwareImages"));
  for (const auto& [component, entry] : object.items()) {
    FirmwareImage image{json_text(entry, "url"), lower(json_text(entry, "sha256"))};
    bool counts = image.url.starts_with("https://") && image.url.size() > 8 &&
                  is_sha256(image.sha256) && is_valid_id(component);
    if (counts) {
      out.firmware_images[component] = image;
    } else {
      out.ignored_images.push_back(component);
    }
  }
  return {};
}

Status check_policy_keys(const Json& policy) {
  return check_keys(policy,
                    {"hardwareProfile", "tenantRoot", "firmwareBaseline", "firmwareRemediation",
                     "firmwareImages", "allowUnverifiedRelease", "firmwareReflash", "turnaround",
                     "minimumBinding", "wipeMinimum", "readback", "tpmRefused", "inspectAfterDays"},
                    "a pool's policy");
}

Status parse_policy(const Json& policy, PoolPolicy& out) {
  TRY(check_policy_keys(policy));
  out.hardware_profile = TRY(json_string(policy, "hardwareProfile"));
  if (!is_valid_id(out.hardware_profile)) {
    return Error(Code::kInvalidInput, "it must be the id of a profile", "hardwareProfile");
  }
  out.tenant_root = TRY(json_bool_or(policy, "tenantRoot", false));
  out.firmware_baseline = TRY(parse_baseline(policy));
  out.firmware_remediation =
      TRY(word(policy, "firmwareRemediation", kRemediations, out.firmware_remediation));
  TRY(parse_images(policy, out));
  out.allow_unverified_release = TRY(json_bool_or(policy, "allowUnverifiedRelease", false));
  if (out.allow_unverified_release && out.agent != PoolAgent::kNone) {
    return Error(Code::kInvalidInput, "only a pool with agent \"none\" may release unverified",
                 "allowUnverifiedRelease");
  }
  out.firmware_reflash = TRY(word(policy, "firmwareReflash", kReflashes, out.firmware_reflash));
  if (!json_member(policy, "turnaround").is_null()) {
    out.turnaround_ms =
        TRY(in_field("turnaround", parse_duration_ms(TRY(json_string(policy, "turnaround")))));
  }
  out.minimum_binding = TRY(word(policy, "minimumBinding", kBindings, out.minimum_binding));
  out.wipe_minimum = TRY(word(policy, "wipeMinimum", kWipes, out.wipe_minimum));
  out.readback = TRY(word(policy, "readback", kReadbacks, out.readback));
  out.tpm_refused = TRY(word(policy, "tpmRefused", kTpmRefusals, out.tpm_refused));
  out.inspect_after_days = TRY(json_int_or(policy, "inspectAfterDays", 0));
  if (out.inspect_after_days < 0 || out.inspect_after_days > limits::kPolicyDays) {
    return Error(Code::kInvalidInput,
                 "it must be 0 (never) to " + std::to_string(limits::kPolicyDays),
                 "inspectAfterDays");
  }
  return {};
}

}  // namespace

std::string_view join_binding_name(JoinBinding binding) {
  return kBindings[static_cast<size_t>(binding)];
}

std::string_view wipe_minimum_name(WipeMinimum minimum) {
  return kWipes[static_cast<size_t>(minimum)];
}

std::string_view readback_name(ReadbackPolicy readback) {
  return kReadbacks[static_cast<size_t>(readback)];
}

Result<int64_t> parse_duration_ms(const std::string& text) {
  constexpr std::array<std::pair<char, int64_t>, 4> kUnits = {
      {{'s', 1'000}, {'m', 60'000}, {'h', 3'600'000}, {'d', 86'400'000}}};
  Error wrong(Code::kInvalidInput, "a duration is a number and s, m, h or d, as in \"4h\"");
  if (text.size() < 2 || text.size() > 10) return wrong;
  int64_t number = 0;
  for (char digit : text.substr(0, text.size() - 1)) {
    if (digit < '0' || digit > '9') return wrong;
    number = number * 10 + (digit - '0');
  }
  for (const auto& [unit, unit_ms] : kUnits) {
    if (text.back() != unit) continue;
    if (number > limits::kPolicyDays * 86'400'000LL / unit_ms) {
      return Error(Code::kInvalidInput,
                   "a duration is at most " + std::to_string(limits::kPolicyDays) + "d");
    }
    return number * unit_ms;
  }
  return wrong;
}

Result<PoolPolicy> PoolPolicy::parse(const Json& row) {
  TRY(check_keys(row, {"table", "schema", "pool", "revision", "agent", "policy"},
                 "a pool_policy row"));
  RowChange change = TRY(parse_row(row));
  if (change.table != "pool_policy") {
    return Error(Code::kInvalidInput, "this is a row of " + change.table, "table");
  }
  PoolPolicy out;
  out.pool = PoolId(change.key);
  out.revision = TRY(json_int(row, "revision"));
  if (out.revision < 1) return Error(Code::kInvalidInput, "revisions start at 1", "revision");
  out.agent = TRY(word(row, "agent", kAgents, PoolAgent::kRamdisk));
  TRY(in_field("policy", parse_policy(TRY(json_object(row, "policy")), out)));
  return out;
}

}  // namespace leasehold
