// The words of disks in JSON, for the parsers of this folder only.
#pragma once

#include "core/evidence/disk.h"
#include "core/evidence/disk_wipe.h"
#include "core/evidence/strict_object.h"

namespace leasehold {

inline constexpr Words<Verdict, 3> kVerdictWords = {
    {{Verdict::kUnknown, "UNKNOWN"}, {Verdict::kPass, "PASS"}, {Verdict::kFail, "FAIL"}}};

inline constexpr Words<HiddenAreas, 3> kHiddenAreasWords = {{{HiddenAreas::kUnknown, "unknown"},
                                                             {HiddenAreas::kNone, "none"},
                                                             {HiddenAreas::kPresent, "present"}}};

inline constexpr Words<WipeMethod, 3> kMethodWords = {
    {{WipeMethod::kNone, "none"}, {WipeMethod::kClear, "clear"}, {WipeMethod::kPurge, "purge"}}};

// As a policy's minimum, "none" is no word.
inline constexpr Words<WipeMethod, 2> kWipeMinimumWords = {
    {{WipeMethod::kPurge, "purge"}, {WipeMethod::kClear, "clear"}}};

inline constexpr Words<ReadbackExtent, 2> kExtentWords = {
    {{ReadbackExtent::kFull, "full"}, {ReadbackExtent::kSample, "sample"}}};

inline constexpr Words<ReadbackClass, 4> kClassWords = {{{ReadbackClass::kNone, "none"},
                                                         {ReadbackClass::kZeros, "zeros"},
                                                         {ReadbackClass::kOnes, "ones"},
                                                         {ReadbackClass::kMixed, "mixed"}}};

inline bool is_transport(std::string_view text) {
  return text == "nvme" || text == "sata" || text == "sas" || text == "virtio" || text == "usb" ||
         text == "mmc";
}

}  // namespace leasehold
