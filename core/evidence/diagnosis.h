// The body of diagnosis/v1 and its judgement: each test named anywhere must have passed on each
// expected GPU, by serial. Skipped, missing, another word, or no test at all fails; dcgmi's own
// summary and exit status can only make it worse. Values only, any thread; never runs a tool.
#pragma once

#include <string>
#include <vector>

#include "core/evidence/disk.h"

namespace leasehold {

struct Gpu {
  std::string serial;
  std::string uuid;
  std::string pci;
  std::string vbios;
  static Result<Gpu> from_json(const Json& json);
  Json to_json() const;
  bool operator==(const Gpu&) const = default;
};

struct ObservedGpu {
  Gpu gpu;
  int64_t ecc_uncorrected = 0;  // -1: not counted, which is no pass
  static Result<ObservedGpu> from_json(const Json& json);
  Json to_json() const;
};

struct DiagnosisTest {
  std::string name;
  std::string gpu;     // serial
  std::string status;  // dcgmi's word: "Pass", "PASS", "Skip", ...
  static Result<DiagnosisTest> from_json(const Json& json);
};

struct DiagnosisReport {
  int64_t level = 0;
  std::vector<std::string> expected_gpus;  // serials
  std::vector<ObservedGpu> observed_gpus;
  std::vector<DiagnosisTest> tests;
  int64_t exit = -1;
  std::string output_sha256;
  Verdict verdict = Verdict::kUnknown;
  std::string reason;
  static Result<DiagnosisReport> from_json(const Json& body);
  Json to_json() const;
};

// wrong-gpus if a serial is there twice or the two lists differ, missing-gpu, extra-gpu.
Checked<void> check_gpus(const std::vector<std::string>& expected,
                         const std::vector<std::string>& seen);
// With no expected GPU, none observed and no test is a pass. The ramdisk uses it too;
// `report.verdict` is judged last.
Checked<void> check_diagnosis(const DiagnosisReport& report,
                              const std::vector<std::string>& expected_gpus, int64_t level);

}  // namespace leasehold
