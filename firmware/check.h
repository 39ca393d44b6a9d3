// A machine's firmware against its pool's baseline, as the failure code of a teardown: the words of
// core/evidence/baseline.h with the reasons that only the reading knows. Values only, any thread.
#pragma once

#include "firmware/components.h"

namespace leasehold {

struct FirmwareVerdict {
  BaselineComparison comparison;
  Status status;  // Ok only if every component of the baseline was found and equals it
};

// INVALID_CONFIG without a baseline, FIRMWARE_DRIFT naming each drifted component with what is
// wanted and found (drift is certain, so it is said first), else FIRMWARE_UNKNOWN naming each
// component with the reason.
FirmwareVerdict check_firmware(const Versions& baseline, const FirmwareReading& reading);

}  // namespace leasehold
