// NVMe disks by way of nvme-cli: what a controller can do, in which order its erase methods are
// tried (quirk DK2), and one erase. Parsing tolerates both output shapes of nvme-cli 1.x and 2.x
// and whatever a shim or a broken tool prints. Blocks the calling thread; thread-safe. SES 0 is
// never used: it erases nothing that it must (quirk DK1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/result.h"
#include "pxe/ramdisk/block_devices.h"
#include "pxe/ramdisk/tool.h"

namespace leasehold {

// What Identify Controller says (NVM Express base specification, figure "Identify Controller").
struct NvmeController {
  bool format = false;                // OACS bit 1
  bool namespace_management = false;  // OACS bit 3
  bool format_crypto = false;         // FNA bit 2
  bool sanitize_crypto = false;       // SANICAP bit 0
  bool sanitize_block = false;        // SANICAP bit 1
  uint64_t tnvmcap = 0;               // bytes in all; 0: not said
  uint64_t unvmcap = 0;               // bytes in no namespace
};
Result<NvmeController> parse_id_ctrl(const std::string& output);
// How many namespaces `nvme list-ns -o json` names. MALFORMED.
Result<size_t> parse_namespace_count(const std::string& output);

enum class SanitizeState { kIdle, kDone, kRunning, kFailed };
Result<SanitizeState> parse_sanitize_log(const std::string& output);

struct NvmeProbe {
  NvmeController controller;
  size_t namespaces = 1;
  HiddenAreas hidden_areas = HiddenAreas::kUnknown;
  std::string problem;  // why the controller could not be asked; or empty
};
// Appends the record of each tool run to `commands`.
NvmeProbe probe_nvme(const BlockDevice& device, std::vector<WipeCommand>& commands);

enum class NvmeErase { kSanitizeCrypto, kSanitizeBlock, kFormatCrypto, kFormatUserData };
// Strongest first; empty if the controller has none.
std::vector<NvmeErase> nvme_erase_plan(const NvmeController& controller);
// "NVMe Format, SES 2 (cryptographic erase)"
std::string nvme_technique(NvmeErase erase);
// SP 800-88 Rev. 1, table A-8: each of them is Purge.
WipeMethod nvme_erase_strength(NvmeErase erase);
// A sanitize that the former owner began, or a crash left behind, ends first: until then the disk
// takes no other command (quirk DK5). TIMEOUT if it does not end.
Status finish_running_sanitize(const BlockDevice& device, const NvmeController& controller,
                               Clock& clock, std::vector<WipeCommand>& commands);
// Waits for the end of the erase. REFUSED (the tool said no), TIMEOUT, MALFORMED.
Status run_nvme_erase(const BlockDevice& device, NvmeErase erase, Clock& clock,
                      std::vector<WipeCommand>& commands);

}  // namespace leasehold
