#include "pxe/ramdisk/diagnose.h"

#include <algorithm>
#include <set>

#include "core/base/limits.h"
#include "core/tls/crypto.h"
#include "pxe/ramdisk/dcgm_report.h"
#include "pxe/ramdisk/wipe_disk.h"

namespace leasehold {
namespace {

constexpr int64_t kHighestLevel = 4;

void lower(DiagnosisReport& report, Verdict to, const std::string& why) {
  lower_verdict(report.verdict, report.reason, to, why);
}

std::string serial_of(int id, const DcgmReport& dcgm, const std::vector<DriverGpu>& observed) {
  auto known = dcgm.serials.find(id);
  if (known != dcgm.serials.end()) return known->second;
  for (const DriverGpu& gpu : observed) {
    if (gpu.index == id && !gpu.observed.gpu.serial.empty()) return gpu.observed.gpu.serial;
  }
  return "id:" + std::to_string(id);
}

void judge_memory(DiagnosisReport& report) {
  for (const ObservedGpu& seen : report.observed_gpus) {
    if (seen.ecc_uncorrected > 0) {
      lower(report, Verdict::kFail, "GPU " + seen.gpu.serial + " has uncorrected memory errors");
    } else if (seen.ecc_uncorrected < 0) {
      lower(report, Verdict::kUnknown, "GPU " + seen.gpu.serial + " counts no memory errors");
    }
  }
}

// Each named test has a row for each expected GPU; where dcgmi has none, one says so.
void add_absent(DiagnosisReport& report, const std::set<std::string>& names) {
  std::set<std::pair<std::string, std::string>> covered;
  for (const DiagnosisTest& test : report.tests) {
    covered.insert({test.name, test.gpu});
  }
  if (names.empty() && !report.expected_gpus.empty()) {
    lower(report, Verdict::kFail, "dcgmi names no test on any GPU");
  }
  for (const std::string& name : names) {
    for (const std::string& gpu : report.expected_gpus) {
      if (covered.count({name, gpu}) > 0) continue;
      lower(report, Verdict::kFail, "test " + name + " is ABSENT on " + gpu);
      if (report.tests.size() >= limits::kRamdiskDiagTests) return;
      report.tests.push_back({name, gpu, "ABSENT"});
    }
  }
}

void judge_tests(DiagnosisReport& report, const std::set<std::string>& names) {
  add_absent(report, names);
  for (const DiagnosisTest& test : report.tests) {
    if (test.status == "PASS") continue;
    lower(report, Verdict::kFail, "test " + test.name + " is " + test.status + " on " + test.gpu);
  }
}

// The verifier's own rule is the last word, so that the two can never disagree on a pass.
void confirm(DiagnosisReport& report, const DiagnosisRequest& request) {
  if (report.verdict != Verdict::kPass) return;
  Checked<void> shown = check_diagnosis(report, request.gpus, request.level);
  if (!shown.ok()) lower(report, Verdict::kUnknown, shown.error().text());
}

DiagnosisReport begin_report(const DiagnosisRequest& request,
                             const std::vector<DriverGpu>& observed, const ToolRun& dcgmi) {
  DiagnosisReport report;
  report.level = request.level;
  report.expected_gpus = request.gpus;
  for (const DriverGpu& gpu : observed) report.observed_gpus.push_back(gpu.observed);
  report.exit = dcgmi.exit;
  report.output_sha256 = sha256_hex(dcgmi.out);
  report.verdict = Verdict::kPass;
  return report;
}

// No GPU is expected: nothing to diagnose, but only if the bus agrees.
DiagnosisReport without_gpus(const Sysroot& root, const DiagnosisRequest& request) {
  size_t on_bus = gpus_on_bus(root).size();
  std::vector<DriverGpu> observed;
  if (on_bus > 0) observed = query_gpus().value_or({});
  ToolRun not_run;
  not_run.exit = 0;
  DiagnosisReport report = begin_report(request, observed, not_run);
  if (!root.exists("sys/bus/pci/devices")) {
    lower(report, Verdict::kUnknown, "the PCI bus cannot be seen");
  }
  if (on_bus > 0) {
    lower(report, Verdict::kFail,
          std::to_string(on_bus) + " GPUs are on the PCI bus, none is expected");
  }
  confirm(report, request);
  return report;
}

// Volatile counts are lost by the reset, so the worse of before and after counts.
void keep_worse(const std::vector<DriverGpu>& before, std::vector<DriverGpu>& after) {
  for (DriverGpu& gpu : after) {
    for (const DriverGpu& old : before) {
      if (old.observed.gpu.serial != gpu.observed.gpu.serial) continue;
      int64_t& errors = gpu.observed.ecc_uncorrected;
      errors = std::max(errors, old.observed.ecc_uncorrected);
    }
  }
}

}  // namespace

Result<DiagnosisRequest> parse_diagnosis_args(const Json& args) {
  DiagnosisRequest request;
  request.level = TRY(json_int(args, "level"));
  if (request.level < 1 || request.level > kHighestLevel) {
    return Error(Code::kInvalidInput, "is not 1 to 4", "level");
  }
  Json gpus = TRY(json_array(args, "gpus"));
  if (gpus.size() > limits::kRamdiskGpus) {
    return Error(Code::kInvalidInput, "lists too many GPUs", "gpus");
  }
  for (const Json& serial : gpus) {
    if (!serial.is_string() || serial == "") {
      return Error(Code::kInvalidInput, "must be a list of serials", "gpus");
    }
    request.gpus.push_back(serial.get<std::string>());
  }
  return request;
}

DiagnosisReport judge_diagnosis(const DiagnosisRequest& request,
                                const std::vector<DriverGpu>& observed, const ToolRun& dcgmi) {
  DiagnosisReport report = begin_report(request, observed, dcgmi);
  std::vector<std::string> serials;
  for (const DriverGpu& gpu : observed) serials.push_back(gpu.observed.gpu.serial);
  Checked<void> present = check_gpus(request.gpus, serials);
  if (!present.ok()) lower(report, Verdict::kFail, present.error().text());
  judge_memory(report);
  Result<DcgmReport> dcgm = parse_dcgm_report(dcgmi.out);
  if (!dcgm.ok()) {
    lower(report, Verdict::kUnknown, dcgmi.exit < 0 ? dcgmi.err : dcgm.error().message);
    return report;
  }
  if (!dcgmi.ok()) {
    lower(report, Verdict::kFail, "dcgmi ended with " + std::to_string(dcgmi.exit));
  }
  for (const DcgmRow& row : dcgm.value().rows) {
    report.tests.push_back({row.test, serial_of(row.gpu_id, dcgm.value(), observed), row.status});
  }
  judge_tests(report, dcgm.value().tests);
  for (const std::string& problem : dcgm.value().problems) lower(report, Verdict::kFail, problem);
  confirm(report, request);
  return report;
}

DiagnosisReport diagnose(const Sysroot& root, const DiagnosisRequest& request,
                         std::string& dcgm_version) {
  if (request.gpus.empty()) return without_gpus(root, request);
  std::vector<DriverGpu> before = query_gpus().value_or({});
  ToolRun reset = run_tool({"nvidia-smi", "--gpu-reset"}, limits::kRamdiskToolMs);
  // Not every GPU has persistence; where DCGM needs it, its own test says so (quirk F13).
  (void)run_tool({"nvidia-smi", "-pm", "1"}, limits::kRamdiskToolMs);
  ToolRun dcgmi = run_tool({"dcgmi", "diag", "-r", std::to_string(request.level), "-j"},
                           limits::kRamdiskDiagMs);
  Result<std::vector<DriverGpu>> after = query_gpus();
  std::vector<DriverGpu> observed;
  if (after.ok()) observed = after.value();
  keep_worse(before, observed);

  DiagnosisReport report = judge_diagnosis(request, observed, dcgmi);
  if (!after.ok()) lower(report, Verdict::kUnknown, after.error().message);
  if (!reset.ok()) {
    lower(report, Verdict::kFail,
          "the GPUs could not be reset: " + printable(trimmed(reset.out + reset.err), 160));
  }
  size_t on_bus = gpus_on_bus(root).size();
  if (on_bus != observed.size()) {
    lower(report, Verdict::kFail,
          std::to_string(on_bus) + " GPUs are on the PCI bus, the driver " + "shows " +
              std::to_string(observed.size()));
  }
  Result<DcgmReport> dcgm = parse_dcgm_report(dcgmi.out);
  if (dcgm.ok()) dcgm_version = dcgm.value().version;
  return report;
}

}  // namespace leasehold
