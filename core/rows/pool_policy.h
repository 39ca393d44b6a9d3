// The `pool_policy` row (docs/protocols.md; demands P1 to P10): what a pool asks of a lease and of
// its teardown. Read where a row enters and again by each step that needs it; one reader for
// both sides of the contract. Values only, any thread. An unknown field is refused, never skipped.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/json.h"

namespace leasehold {

enum class PoolAgent { kRamdisk, kNone };
enum class FirmwareRemediation { kQuarantine, kReflash };
enum class FirmwareReflash { kOnDrift, kAlways };
enum class JoinBinding { kNetwork, kVmedia, kTpm };  // weakest first
enum class WipeMinimum { kClear, kPurge };           // weakest first
enum class ReadbackPolicy { kSample, kFull };
enum class TpmRefused { kQuarantine, kRecord };

std::string_view join_binding_name(JoinBinding binding);
std::string_view wipe_minimum_name(WipeMinimum minimum);
std::string_view readback_name(ReadbackPolicy readback);

struct FirmwareImage {
  std::string url;     // https
  std::string sha256;  // 64 hex digits, lower case
};

struct PoolPolicy {
  PoolId pool;
  int64_t revision = 0;
  PoolAgent agent = PoolAgent::kRamdisk;

  std::string hardware_profile;
  bool tenant_root = false;
  // Component -> the exact version. Empty: there is none, and the teardown fails INVALID_CONFIG.
  std::map<std::string, std::string> firmware_baseline;
  FirmwareRemediation firmware_remediation = FirmwareRemediation::kQuarantine;
  std::map<std::string, FirmwareImage> firmware_images;
  // Components whose image is not https with 64 hex digits: not used, and said so (P5).
  std::vector<std::string> ignored_images;
  bool allow_unverified_release = false;
  FirmwareReflash firmware_reflash = FirmwareReflash::kOnDrift;
  int64_t turnaround_ms = 4LL * 3600 * 1000;
  JoinBinding minimum_binding = JoinBinding::kNetwork;
  WipeMinimum wipe_minimum = WipeMinimum::kPurge;
  ReadbackPolicy readback = ReadbackPolicy::kSample;
  TpmRefused tpm_refused = TpmRefused::kQuarantine;
  int64_t inspect_after_days = 0;  // 0: never

  // INVALID_INPUT with the field, dotted ("policy.firmwareRemediation").
  static Result<PoolPolicy> parse(const Json& row);
};

// "90s", "15m", "4h", "7d" in milliseconds. INVALID_INPUT otherwise.
Result<int64_t> parse_duration_ms(const std::string& text);

}  // namespace leasehold
