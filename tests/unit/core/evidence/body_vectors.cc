#include "tests/unit/core/evidence/vectors.h"

namespace leasehold::test {
namespace {

using R = EvidenceReason;
using Change = std::function<void(Case&)>;

Change report(std::function<void(DiskWipeReport&)> change) {
  return [=](Case& c) {
    DiskWipeReport each = c.run.wipe_report();
    change(each);
    c.run.set_wipe_report(each);
  };
}

// The second disk's record.
Change wipe(std::function<void(DiskWipe&)> change) {
  return report([=](DiskWipeReport& r) { change(r.disks[1]); });
}

// The second disk as it is seen, in both lists.
Change disk(std::function<void(ManifestEntry&)> change) {
  return report([=](DiskWipeReport& r) {
    change(r.observed[1]);
    change(r.disks[1].disk);
  });
}

Change diagnosis(std::function<void(DiagnosisReport&)> change) {
  return [=](Case& c) {
    DiagnosisReport each = c.run.diagnosis_report();
    change(each);
    c.run.set_diagnosis_report(each);
  };
}

Change format_with(std::vector<std::string> argv) {
  return wipe([=](DiskWipe& w) { w.commands[0].argv = argv; });
}

std::vector<Vector> identity_vectors() {
  return {
      {R::kEmptyManifest, "no disk at all",
       [](Case& c) {
         c.run.evidence.manifest = {};
         c.run.wipe.subjects = {};
         DiskWipeReport empty;
         empty.verdict = Verdict::kPass;
         c.run.set_wipe_report(empty);
       }},
      {R::kWrongManifest, "wiped against a shorter list",
       report([](auto& r) { r.expected.disks.pop_back(); })},
      {R::kSubjectMismatch, "a subject away", [](Case& c) { c.run.wipe.subjects.pop_back(); }},
      {R::kSubjectMismatch, "a subject's digest",
       [](Case& c) { c.run.wipe.subjects[0].sha256 = std::string(64, '0'); }},
      {R::kSubjectMismatch, "the diagnosis of another context",
       [](Case& c) { c.run.diagnosis.subjects[0].sha256 = std::string(64, '0'); }},
      {R::kMissingDisk, "not observed", report([](auto& r) { r.observed.pop_back(); })},
      {R::kMissingDisk, "not wiped", report([](auto& r) { r.disks.pop_back(); })},
      {R::kMissingDisk, "another serial", disk([](auto& d) { d.serial = "S9"; })},
      {R::kMissingDisk, "not in the inventory",
       [](Case& c) { c.run.inventory.body["disks"].erase(1); }},
      {R::kExtraDisk, "one more observed", report([](auto& r) {
         r.observed.push_back(r.observed[1]);
         r.observed[2].serial = "S3";
       })},
      {R::kExtraDisk, "one observed twice",
       report([](auto& r) { r.observed.push_back(r.observed[1]); })},
      {R::kExtraDisk, "one wiped twice", report([](auto& r) { r.disks.push_back(r.disks[1]); })},
      {R::kChangedDisk, "capacity", disk([](auto& d) { d.capacity_bytes += 512; })},
      {R::kChangedDisk, "model", disk([](auto& d) { d.model = "Model C"; })},
      {R::kChangedDisk, "wwn", disk([](auto& d) { d.wwn = "eui.0002"; })},
      {R::kChangedDisk, "transport", disk([](auto& d) { d.transport = "sata"; })},
      {R::kChangedDisk, "only in the record", wipe([](auto& w) { w.disk.capacity_bytes -= 512; })},
      {R::kHiddenAreas, "present", disk([](auto& d) { d.hidden_areas = HiddenAreas::kPresent; })},
      {R::kHiddenAreas, "unknown", disk([](auto& d) { d.hidden_areas = HiddenAreas::kUnknown; })},
      {R::kHiddenAreas, "only observed",
       report([](auto& r) { r.observed[0].hidden_areas = HiddenAreas::kUnknown; })},
  };
}

std::vector<Vector> fact_vectors() {
  return {
      {R::kNotErased, "method none", wipe([](auto& w) { w.method = WipeMethod::kNone; })},
      {R::kNotErased, "no command", wipe([](auto& w) { w.commands.clear(); })},
      {R::kNotErased, "SES 0", format_with({"nvme", "format", "/dev/nvme0", "--ses=0"})},
      {R::kNotErased, "no SES", format_with({"/usr/sbin/nvme", "format", "/dev/nvme0"})},
      {R::kNotErased, "a later SES 0",
       format_with({"nvme", "format", "-s2", "/dev/nvme0", "-s", "0"})},
      {R::kMethodTooWeak, "clear", wipe([](auto& w) { w.method = WipeMethod::kClear; })},
      {R::kUnknownErase, "any program at all", format_with({"true"})},
      {R::kCommandFailed, "exit 1", wipe([](auto& w) { w.commands[0].exit = 1; })},
      {R::kNoMarkers, "none written", wipe([](auto& w) { w.markers.written = 0; })},
      {R::kMarkerSurvived, "one survived", wipe([](auto& w) { w.markers.survived = 1; })},
      {R::kReadbackNotClean, "mixed",
       wipe([](auto& w) { w.readback.found = ReadbackClass::kMixed; })},
      {R::kReadbackNotClean, "nothing",
       wipe([](auto& w) { w.readback.found = ReadbackClass::kNone; })},
      {R::kReadbackNotClean, "one byte", wipe([](auto& w) { w.readback.mismatched_bytes = 1; })},
      {R::kReadbackCached, "page cache", wipe([](auto& w) { w.readback.direct_io = false; })},
      {R::kReadbackInsufficient, "one byte less than a sample",
       wipe([](auto& w) { w.readback.bytes = sample_bytes_needed(w.disk.capacity_bytes) - 1; })},
      {R::kReadbackInsufficient, "policy asks for all",
       [](Case& c) { c.run.evidence.policy.wipe.readback = ReadbackExtent::kFull; }},
      {R::kReadbackInsufficient, "all but a millionth",
       [](Case& c) {
         c.run.evidence.policy.wipe.readback = ReadbackExtent::kFull;
         report([](DiskWipeReport& r) {
           for (DiskWipe& w : r.disks) {
             w.readback.bytes = w.disk.capacity_bytes;
             w.readback.coverage_ppm = 1'000'000;
           }
           r.disks[1].readback.coverage_ppm = 999'999;
         })(c);
       }},
      {R::kDiskNotPass, "FAIL", wipe([](auto& w) { w.verdict = Verdict::kFail; })},
      {R::kDiskNotPass, "UNKNOWN", wipe([](auto& w) { w.verdict = Verdict::kUnknown; })},
      {R::kVerdictNotPass, "FAIL", report([](auto& r) { r.verdict = Verdict::kFail; })},
      {R::kVerdictNotPass, "UNKNOWN", report([](auto& r) { r.verdict = Verdict::kUnknown; })},
  };
}

}  // namespace

std::vector<Vector> disk_vectors() {
  std::vector<Vector> out = identity_vectors();
  for (Vector& vector : fact_vectors()) out.push_back(std::move(vector));
  return out;
}

std::vector<Vector> gpu_vectors() {
  return {
      {R::kWrongGpus, "diagnosed against a shorter list",
       diagnosis([](auto& d) { d.expected_gpus.pop_back(); })},
      {R::kWrongGpus, "one observed twice",
       diagnosis([](auto& d) { d.observed_gpus.push_back(d.observed_gpus[0]); })},
      {R::kMissingGpu, "not observed", diagnosis([](auto& d) { d.observed_gpus.pop_back(); })},
      {R::kMissingGpu, "not in the inventory",
       [](Case& c) { c.run.inventory.body["gpus"].erase(1); }},
      {R::kExtraGpu, "one more", diagnosis([](auto& d) {
         d.observed_gpus.push_back(d.observed_gpus[0]);
         d.observed_gpus[2].gpu.serial = "1002";
       })},
      {R::kGpuEcc, "one error", diagnosis([](auto& d) { d.observed_gpus[1].ecc_uncorrected = 1; })},
      {R::kGpuTestNotPass, "skipped", diagnosis([](auto& d) { d.tests[0].status = "Skip"; })},
      {R::kGpuTestNotPass, "warned", diagnosis([](auto& d) { d.tests[5].status = "WARN"; })},
      {R::kGpuTestNotPass, "missing on one GPU", diagnosis([](auto& d) { d.tests.pop_back(); })},
      {R::kGpuTestNotPass, "no test", diagnosis([](auto& d) { d.tests.clear(); })},
      {R::kGpuTestNotPass, "passed once and failed once", diagnosis([](auto& d) {
         d.tests.push_back(d.tests[0]);
         d.tests.back().status = "Fail";
       })},
      {R::kGpuTestNotPass, "a test of an unknown GPU", diagnosis([](auto& d) {
         d.tests.push_back(d.tests[0]);
         d.tests.back().gpu = "1002";
       })},
      {R::kDiagnosisTooWeak, "level 0", diagnosis([](auto& d) { d.level = 0; })},
      {R::kDiagnosisNotPass, "exit 1", diagnosis([](auto& d) { d.exit = 1; })},
      {R::kDiagnosisNotPass, "FAIL", diagnosis([](auto& d) { d.verdict = Verdict::kFail; })},
  };
}

}  // namespace leasehold::test
