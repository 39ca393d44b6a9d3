#include "core/evidence/diagnosis.h"

#include <algorithm>
#include <set>

#include "core/evidence/disk_words.h"

namespace leasehold {
namespace {

EvidenceRefusal refuse(EvidenceReason reason, std::string detail) {
  return {reason, std::move(detail)};
}

// dcgmi 2 and 3 write "PASS", 4 writes "Pass". No other word is a pass.
bool is_pass(const std::string& status) {
  return status == "Pass" || status == "PASS" || status == "pass";
}

// Every (test, expected GPU) pair has a row, and every row passed.
Checked<void> check_tests(const DiagnosisReport& report, const std::set<std::string>& gpus) {
  std::set<std::string> names;
  std::set<std::pair<std::string, std::string>> passed;
  for (const DiagnosisTest& test : report.tests) {
    names.insert(test.name);
    if (!is_pass(test.status) || gpus.count(test.gpu) == 0) {
      return refuse(EvidenceReason::kGpuTestNotPass,
                    test.name + " on " + test.gpu + ": " + test.status.substr(0, 64));
    }
    passed.insert({test.name, test.gpu});
  }
  if (names.empty() && !gpus.empty()) {
    return refuse(EvidenceReason::kGpuTestNotPass, "no test was run");
  }
  for (const std::string& name : names) {
    for (const std::string& gpu : gpus) {
      if (passed.count({name, gpu}) > 0) continue;
      return refuse(EvidenceReason::kGpuTestNotPass, name + " is missing on " + gpu);
    }
  }
  return {};
}

}  // namespace

Result<Gpu> Gpu::from_json(const Json& json) {
  StrictObject object(json, "GPU", {"serial", "uuid", "pci", "vbios"});
  Gpu gpu{object.text("serial"), object.text("uuid"), object.text("pci"), object.text("vbios")};
  TRY(object.status());
  return gpu;
}

Json Gpu::to_json() const {
  return {{"serial", serial}, {"uuid", uuid}, {"pci", pci}, {"vbios", vbios}};
}

Result<ObservedGpu> ObservedGpu::from_json(const Json& json) {
  StrictObject object(json, "GPU", {"serial", "uuid", "pci", "vbios", "ecc_uncorrected"});
  ObservedGpu out;
  out.gpu = {object.text("serial"), object.text("uuid"), object.text("pci"), object.text("vbios")};
  out.ecc_uncorrected = object.number("ecc_uncorrected");
  TRY(object.status());
  return out;
}

Json ObservedGpu::to_json() const {
  Json out = gpu.to_json();
  out["ecc_uncorrected"] = ecc_uncorrected;
  return out;
}

Result<DiagnosisTest> DiagnosisTest::from_json(const Json& json) {
  StrictObject object(json, "test", {"name", "gpu", "status"});
  DiagnosisTest test{object.filled("name"), object.text("gpu"), object.text("status")};
  TRY(object.status());
  return test;
}

Result<DiagnosisReport> DiagnosisReport::from_json(const Json& body) {
  StrictObject object(body, "diagnosis",
                      {"level", "expected_gpus", "observed_gpus", "tests", "exit", "output_sha256",
                       "verdict", "reason"});
  DiagnosisReport report;
  report.level = object.count("level");
  report.expected_gpus = object.texts("expected_gpus");
  report.observed_gpus = object.list<ObservedGpu>("observed_gpus", ObservedGpu::from_json);
  report.tests = object.list<DiagnosisTest>("tests", DiagnosisTest::from_json);
  report.exit = object.number("exit");
  report.output_sha256 = object.digest("output_sha256");
  report.verdict = object.word("verdict", kVerdictWords);
  report.reason = object.text("reason");
  TRY(object.status());
  return report;
}

Json DiagnosisReport::to_json() const {
  Json observed = Json::array();
  for (const ObservedGpu& each : observed_gpus) observed.push_back(each.to_json());
  Json rows = Json::array();
  for (const DiagnosisTest& test : tests) {
    rows.push_back({{"name", test.name}, {"gpu", test.gpu}, {"status", test.status}});
  }
  return {{"level", level},
          {"expected_gpus", expected_gpus},
          {"observed_gpus", observed},
          {"tests", rows},
          {"exit", exit},
          {"output_sha256", output_sha256},
          {"verdict", verdict_name(verdict)},
          {"reason", reason}};
}

Checked<void> check_gpus(const std::vector<std::string>& expected,
                         const std::vector<std::string>& seen) {
  std::set<std::string> wanted(expected.begin(), expected.end());
  std::set<std::string> found(seen.begin(), seen.end());
  for (const std::string& serial : wanted) {
    if (found.count(serial) == 0) {
      return refuse(EvidenceReason::kMissingGpu, "serial " + serial);
    }
  }
  for (const std::string& serial : found) {
    if (wanted.count(serial) == 0) return refuse(EvidenceReason::kExtraGpu, "serial " + serial);
  }
  if (wanted.size() != expected.size() || found.size() != seen.size()) {
    return refuse(EvidenceReason::kWrongGpus, "a serial is there twice");
  }
  return {};
}

Checked<void> check_diagnosis(const DiagnosisReport& report,
                              const std::vector<std::string>& expected_gpus, int64_t level) {
  std::vector<std::string> serials;
  for (const ObservedGpu& each : report.observed_gpus) serials.push_back(each.gpu.serial);
  auto sorted = [](std::vector<std::string> list) {
    std::sort(list.begin(), list.end());
    return list;
  };
  if (sorted(report.expected_gpus) != sorted(expected_gpus)) {
    return refuse(EvidenceReason::kWrongGpus, "\"expected_gpus\" differs");
  }
  TRY(check_gpus(expected_gpus, serials));
  for (const ObservedGpu& each : report.observed_gpus) {
    if (each.ecc_uncorrected == 0) continue;
    return refuse(EvidenceReason::kGpuEcc,
                  "serial " + each.gpu.serial + ": " + std::to_string(each.ecc_uncorrected));
  }
  if (report.level < level) {
    return refuse(EvidenceReason::kDiagnosisTooWeak, "level " + std::to_string(report.level));
  }
  TRY(check_tests(report, {expected_gpus.begin(), expected_gpus.end()}));
  if (report.exit != 0 || report.verdict != Verdict::kPass) {
    return refuse(EvidenceReason::kDiagnosisNotPass, "exit " + std::to_string(report.exit) +
                                                         ", verdict " +
                                                         std::string(verdict_name(report.verdict)) +
                                                         ": " + report.reason.substr(0, 200));
  }
  return {};
}

}  // namespace leasehold
