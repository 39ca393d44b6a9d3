// The command diag.dcgm: GPUs are reset, diagnosed with DCGM, and judged (quirks F11 to F13): each
// named test passes on each expected GPU, which is known by its serial. What dcgmi says about
// itself
// ("Successfully ran") and its exit code alone never make a pass. Called on the main thread;
// blocks.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/evidence/diagnosis.h"
#include "pxe/ramdisk/hardware.h"
#include "pxe/ramdisk/sysroot.h"
#include "pxe/ramdisk/tool.h"

namespace leasehold {

struct DiagnosisRequest {
  int64_t level = 1;
  std::vector<std::string> gpus;  // serials
};
// The args of the command. INVALID_INPUT.
Result<DiagnosisRequest> parse_diagnosis_args(const Json& args);

// A pure function of what was expected, what nvidia-smi shows, and what dcgmi printed. A test's
// status is "PASS WITH ERROR" for a pass with an error beside it, and "ABSENT" where a test that
// was named for one GPU is not there for another.
DiagnosisReport judge_diagnosis(const DiagnosisRequest& request,
                                const std::vector<DriverGpu>& observed, const ToolRun& dcgmi);

// `dcgm_version` is set if the tool said it.
DiagnosisReport diagnose(const Sysroot& root, const DiagnosisRequest& request,
                         std::string& dcgm_version);

}  // namespace leasehold
