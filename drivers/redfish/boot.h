// The boot override of a ComputerSystem (quirks B1 to B4). Functions on a step's thread; they
// block. What counts is what is read back, and even that only says what the BMC believes: that a
// machine boots our ramdisk is proven by the ramdisk alone (B7, B12).
#pragma once

#include "drivers/bmc.h"
#include "drivers/redfish/system.h"

namespace leasehold::redfish {

// UNSUPPORTED if the override is on and its target is none that we know.
Result<BootOverride> parse_boot_override(const Json& resource);
Result<BootOverride> read_boot_override(System& system);

// Sends Target, Enabled and Mode together (B3), without Mode where the BMC says that it cannot be
// set (B4), and to the Settings object where the system's own is read-only (B1, B2). Each further
// form is sent only after a read has shown that the former did not take.
Status write_boot_override(Client& client, System& system, const BootOverride& wanted);

}  // namespace leasehold::redfish
