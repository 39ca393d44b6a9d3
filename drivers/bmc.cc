#include "drivers/bmc.h"

namespace leasehold {

std::string_view power_state_name(PowerState state) {
  switch (state) {
    case PowerState::kOff:
      return "Off";
    case PowerState::kOn:
      return "On";
    case PowerState::kPoweringOn:
      return "PoweringOn";
    case PowerState::kPoweringOff:
      return "PoweringOff";
    case PowerState::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view boot_target_name(BootSourceOverrideTarget target) {
  switch (target) {
    case BootSourceOverrideTarget::kNone:
      return "None";
    case BootSourceOverrideTarget::kPxe:
      return "Pxe";
    case BootSourceOverrideTarget::kUefiHttp:
      return "UefiHttp";
    case BootSourceOverrideTarget::kHdd:
      return "Hdd";
    case BootSourceOverrideTarget::kCd:
      return "Cd";
  }
  return "None";
}

}  // namespace leasehold
