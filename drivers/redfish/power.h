// PowerState and ComputerSystem.Reset (quirks W1, W3 to W5, W8, W12). Functions on a step's thread;
// they block. A state is what one fresh read says and is never guessed or remembered; whoever acts
// on Off reads twice. A reset is sent at most once.
#pragma once

#include "drivers/bmc.h"
#include "drivers/redfish/system.h"

namespace leasehold::redfish {

// null, "Paused", and whatever else is not in the list: kUnknown (W8).
PowerState parse_power_state(const Json& system);

Result<PowerState> read_power(System& system);

// Ok: the BMC accepted it or reads as wanted; only a later read shows that it happened (W3).
// REFUSED, UNSUPPORTED, UNAVAILABLE: it did not happen. Any other error: nobody knows.
Status reset_system(Client& client, System& system, ResetType type);

}  // namespace leasehold::redfish
