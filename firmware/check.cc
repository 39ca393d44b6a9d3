#include "firmware/check.h"

namespace leasehold {
namespace {

std::string why_unknown(const FirmwareReading& reading, const std::string& component) {
  auto reason = reading.unknown.find(component);
  return reason == reading.unknown.end() ? "the hardware profile has no rule for it"
                                         : reason->second;
}

void append(std::string& text, const std::string& part) {
  text += (text.empty() ? "" : "; ") + part;
}

}  // namespace

FirmwareVerdict check_firmware(const Versions& baseline, const FirmwareReading& reading) {
  FirmwareVerdict verdict;
  if (baseline.empty()) {
    verdict.status = Error(Code::kInvalidConfig, "the pool's policy has no firmwareBaseline",
                           "policy.firmwareBaseline");
    return verdict;
  }
  verdict.comparison = compare_baseline(baseline, reading.found);
  std::string drifted;
  std::string unknown;
  for (const ComponentComparison& one : verdict.comparison.components) {
    if (one.state == FirmwareState::kDrifted) {
      append(drifted, one.component + " is " + one.found + ", not " + one.baseline);
    } else if (one.state == FirmwareState::kUnknown) {
      append(unknown, one.component + " is unknown: " + why_unknown(reading, one.component));
    }
  }
  if (!drifted.empty()) {
    if (!unknown.empty()) append(drifted, unknown);
    verdict.status = Error(Code::kFirmwareDrift, drifted);
  } else if (!unknown.empty()) {
    verdict.status = Error(Code::kFirmwareUnknown, unknown);
  }
  return verdict;
}

}  // namespace leasehold
