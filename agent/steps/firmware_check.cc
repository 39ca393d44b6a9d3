#include "agent/steps/firmware_check.h"

#include "core/base/log.h"
#include "firmware/check.h"

namespace leasehold {
namespace {

constexpr int64_t kUnreachableWithinMs = 300'000;

// No rule claims these and no baseline judges them: they are the BMC's own words, on their way into
// signed evidence that leaves the site.
Versions told(const Versions& listed) {
  Versions clean;
  for (const auto& [id, version] : listed) clean[scrubbed(id)] = scrubbed(version);
  return clean;
}

}  // namespace

StepOutcome firmware_check(const Tools& tools, StepContext& context) {
  Result<PoolPolicy> policy = policy_of(context);
  if (!policy.ok()) return policy.error();
  if (policy.value().firmware_baseline.empty()) {
    return Error(Code::kInvalidConfig,
                 "pool " + policy.value().pool.str() + " has no policy.firmwareBaseline");
  }
  Result<HardwareProfile> profile = profile_of(context);
  if (!profile.ok()) return profile.error();
  Result<std::unique_ptr<Bmc>> bmc = open_bmc(tools, context);
  Result<FirmwareInventory> inventory =
      bmc.ok() ? bmc.value()->firmware_inventory() : Result<FirmwareInventory>(bmc.error());
  if (!inventory.ok()) {
    if (!is_passing(inventory.error())) return inventory.error();
    return Poll{inventory.error().message, next_wait_ms(context), kUnreachableWithinMs,
                Code::kFirmwareUnknown};
  }
  FirmwareReading reading = read_components(inventory.value(), profile.value().components);
  FirmwareVerdict verdict = check_firmware(policy.value().firmware_baseline, reading);
  if (!verdict.status.ok()) return verdict.status.error();
  return Done{Json{{"found", reading.found}, {"listed", told(reading.listed)}}, {}, {}};
}

}  // namespace leasehold
