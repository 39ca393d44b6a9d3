#include "core/evidence/baseline.h"

#include <algorithm>

namespace leasehold {

std::string_view firmware_state_name(FirmwareState state) {
  switch (state) {
    case FirmwareState::kOk:
      return "ok";
    case FirmwareState::kDrifted:
      return "drifted";
    case FirmwareState::kUnknown:
      return "unknown";
  }
  return "unknown";
}

bool BaselineComparison::all(FirmwareState state) const {
  return std::all_of(components.begin(), components.end(),
                     [&](const auto& each) { return each.state == state; });
}

bool BaselineComparison::any(FirmwareState state) const {
  return std::any_of(components.begin(), components.end(),
                     [&](const auto& each) { return each.state == state; });
}

BaselineComparison compare_baseline(const Versions& baseline, const Versions& found) {
  BaselineComparison out;
  for (const auto& [component, wanted] : baseline) {
    auto it = found.find(component);
    ComponentComparison each{component, wanted, it == found.end() ? "" : it->second,
                             FirmwareState::kUnknown};
    // A baseline without a version asks for nothing that could be shown.
    if (!each.found.empty() && !wanted.empty()) {
      each.state = each.found == wanted ? FirmwareState::kOk : FirmwareState::kDrifted;
    }
    out.components.push_back(std::move(each));
  }
  for (const auto& [component, version] : found) {
    if (baseline.count(component) == 0) out.listed[component] = version;
  }
  return out;
}

Checked<void> check_baseline(const Versions& baseline, const Versions& found) {
  if (baseline.empty()) return EvidenceRefusal{EvidenceReason::kNoBaseline, ""};
  BaselineComparison comparison = compare_baseline(baseline, found);
  for (const ComponentComparison& each : comparison.components) {
    if (each.state == FirmwareState::kOk) continue;
    bool drifted = each.state == FirmwareState::kDrifted;
    return EvidenceRefusal{
        drifted ? EvidenceReason::kFirmwareDrift : EvidenceReason::kFirmwareUnknown,
        each.component + " is \"" + each.found + "\", the baseline says \"" + each.baseline + "\""};
  }
  return {};
}

}  // namespace leasehold
