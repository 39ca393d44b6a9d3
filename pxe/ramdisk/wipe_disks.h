// The command disk.wipe: all disks at once, each judged against the manifest that came with the
// command (quirk DK9: the enrolled list is the truth). A disk of the manifest that is missing or
// has changed fails; a disk that the manifest does not name is wiped too, reported, and keeps the
// whole from passing. Called on the main thread, which waits for the disks' threads.
#pragma once

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/result.h"
#include "core/evidence/disk_wipe.h"
#include "pxe/ramdisk/sysroot.h"
#include "pxe/ramdisk/wipe_disk.h"

namespace leasehold {

struct WipeRequest {
  DiskManifest manifest;
  WipeOptions options;
};

// The args of the command. INVALID_INPUT, MALFORMED, TOO_LARGE.
Result<WipeRequest> parse_wipe_args(const Json& args);

DiskWipeReport wipe_disks(const Sysroot& root, const WipeRequest& request, Clock& clock);

}  // namespace leasehold
