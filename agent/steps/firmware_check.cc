#include "agent/steps/firmware_check.h"

#include "firmware/check.h"

namespace leasehold {
namespace {

constexpr int64_t kUnreachableWithinMs = 300'000;

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
  return Done{Json{{"found", reading.found}, {"listed", reading.listed}}, {}, {}};
}

}  // namespace leasehold
