// Firmware versions as found against the pool's baseline. Both sides are already normalised
// (firmware/): the comparison is exact. A component of the baseline without a version is unknown,
// and unknown is never equal. Values only, any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/evidence/refusal.h"

namespace leasehold {

using Versions = std::map<std::string, std::string>;  // component -> version

enum class FirmwareState { kOk, kDrifted, kUnknown };
std::string_view firmware_state_name(FirmwareState state);  // "ok", "drifted", "unknown"

struct ComponentComparison {
  std::string component;
  std::string baseline;
  std::string found;  // empty if absent
  FirmwareState state = FirmwareState::kUnknown;
};

struct BaselineComparison {
  std::vector<ComponentComparison> components;  // one per component of the baseline, by name
  Versions listed;                              // found, but not in the baseline

  bool all(FirmwareState state) const;
  bool any(FirmwareState state) const;
};

BaselineComparison compare_baseline(const Versions& baseline, const Versions& found);
// no-baseline (it is empty), firmware-unknown, firmware-drift, or nothing.
Checked<void> check_baseline(const Versions& baseline, const Versions& found);

}  // namespace leasehold
