// What the BMC says about its host: maker, serials and the Ethernet ports of the ComputerSystem.
// Claims, read leniently (quirks P7, P8, P10): an empty word is one that the BMC does not say. Used
// on a step's thread, blocks; changes nothing.
#pragma once

#include "drivers/redfish/system.h"

namespace leasehold::redfish {

// A collection of ports that cannot be read whole is UNAVAILABLE: a port that is not seen could be
// the one that boots. One that is not there is no port.
Result<SystemFacts> read_system_facts(Client& client, System& system);

// "52-54-00-77-00-10" or upper case as "52:54:00:77:00:10"; "" if it is no MAC of a station.
std::string normal_mac(const std::string& text);

}  // namespace leasehold::redfish
