#include "agent/steps/power.h"

#include "core/base/log.h"

namespace leasehold {
namespace {

// A BMC that accepted ForceOff is given this long before it is asked again.
constexpr int64_t kResendAfterMs = 15'000;
// One reading of Off may be a BMC that is still starting, or one that caches.
constexpr int64_t kOffReads = 3;

Poll wait_for_off(StepContext& context, const HardwareProfile& profile, std::string why) {
  return Poll{std::move(why), next_wait_ms(context), profile.power_off_s * 1000,
              Code::kPowerNotOff};
}

bool may_send(StepContext& context, int64_t now_ms) {
  Json& memory = *context.memory;
  if (memory.contains("sentAt") && now_ms - memory["sentAt"].get<int64_t>() < kResendAfterMs) {
    return false;
  }
  memory["sentAt"] = now_ms;
  return true;
}

// ForceOff if it is time to, then one more look.
StepOutcome press(const Tools& tools, StepContext& context, const HardwareProfile& profile,
                  Bmc& bmc) {
  if (may_send(context, tools.clock->monotonic_ms())) {
    Status sent = bmc.reset(ResetType::kForceOff);
    if (!sent.ok()) {
      drop_kept_bmc(context);
      return wait_for_off(context, profile,
                          "the BMC answers ForceOff with " + sent.error().message);
    }
  }
  return wait_for_off(context, profile, "the host still reads On after ForceOff");
}

}  // namespace

StepOutcome power_off(const Tools& tools, StepContext& context, bool clears_debt) {
  Result<NodeRow> node = node_of(context);
  if (!node.ok()) return node.error();
  // Powering off must work even when the pool's policy is missing: what is said there is later.
  HardwareProfile profile = profile_of(context).value_or(HardwareProfile());
  if (tools.busy->held(context.run.node)) {
    return wait_for_off(context, profile, "an owed power-off of this node is under way");
  }
  Result<std::shared_ptr<Bmc>> bmc = kept_bmc(tools, context);
  if (!bmc.ok()) {
    if (!is_passing(bmc.error())) return bmc.error();
    return wait_for_off(context, profile, bmc.error().message);
  }
  Result<PowerState> state = bmc.value()->power_state();
  if (!state.ok()) {
    drop_kept_bmc(context);
    if (!is_passing(state.error())) return state.error();
    return wait_for_off(context, profile, state.error().message);
  }
  if (state.value() == PowerState::kOn || state.value() == PowerState::kPoweringOn) {
    (*context.memory)["offReads"] = 0;
    return press(tools, context, profile, *bmc.value());
  }
  if (state.value() != PowerState::kOff) {
    return wait_for_off(context, profile,
                        "the host reads " + std::string(power_state_name(state.value())));
  }
  Json& memory = *context.memory;
  int64_t reads = memory.contains("offReads") ? memory["offReads"].get<int64_t>() + 1 : 1;
  memory["offReads"] = reads;
  if (reads < kOffReads) {
    return Poll{"reading Off once more", profile.off_reread_ms, profile.power_off_s * 1000,
                Code::kPowerNotOff};
  }
  Done done{Json{{"state", "Off"}}, {}, {}};
  if (clears_debt && node.value().power_off_owed) {
    node.value().power_off_owed = false;
    node.value().off_read_at = format_time(tools.clock->now_ms());
    done.rows.push_back(node.value().change());
  }
  return done;
}

}  // namespace leasehold
