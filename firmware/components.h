// From a BMC's firmware inventory to the components of a baseline, by the hardware profile's rules
// (quirks F2, F4, N2, R3). Values only, any thread. Never guesses: what is absent, empty,
// incomplete or contradictory is unknown, with its reason, and an unknown component is not found.
#pragma once

#include <map>
#include <string>

#include "core/evidence/baseline.h"
#include "core/hardware_profile/hardware_profile.h"
#include "drivers/bmc.h"

namespace leasehold {

using ComponentRules = std::map<std::string, ComponentRule>;  // HardwareProfile::components

struct FirmwareReading {
  Versions found;    // component -> version, in the form that the rule asks for
  Versions unknown;  // component -> why its version is not known
  Versions listed;   // inventory id -> version as reported: what no rule claims
};

std::string version_in_form(const ComponentRule& rule, const std::string& reported);

// Of an inventory that is not complete nothing is found: what is missing might be what differs.
FirmwareReading read_components(const FirmwareInventory& inventory, const ComponentRules& rules);

}  // namespace leasehold
