// UpdateService's FirmwareInventory as it stands: every member, raw versions, and whether the list
// can be believed to be whole (quirks P3, P12, R3). A function on a step's thread; it blocks. Never
// judges: firmware/ does.
#pragma once

#include "drivers/bmc.h"
#include "drivers/redfish/client.h"

namespace leasehold::redfish {

FirmwareItem parse_firmware_item(const Json& body, const std::string& uri);

// UNSUPPORTED if the BMC has no inventory at all.
Result<FirmwareInventory> read_firmware_inventory(Client& client, ServiceRoot& root);

}  // namespace leasehold::redfish
