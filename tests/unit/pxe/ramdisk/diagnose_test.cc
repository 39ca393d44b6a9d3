#include "pxe/ramdisk/diagnose.h"

#include "tests/unit/pxe/ramdisk/support.h"

using namespace leasehold;
using leasehold::test::FakeMachine;

namespace {

constexpr const char* kTests[] = {"Denylist", "NVML Library", "Inforom"};

// DCGM 3.x, with that status of its last test and that text in its result.
std::string dcgm3(const std::string& last_status = "PASS", const std::string& ids = "0,1",
                  const std::string& more = "") {
  std::string tests;
  for (const char* name : kTests) {
    bool last = std::string(name) == "Inforom";
    if (!tests.empty()) tests += ", null, ";
    tests += std::string("{\"name\":\"") + name + "\",\"results\":[{\"gpu_ids\":\"" +
             (last ? ids : "0,1") + "\",\"status\":\"" + (last ? last_status : "PASS") + "\"" +
             (last ? more : "") + "}]}";
  }
  return "{\"DCGM GPU Diagnostic\":{\"version\":\"3.1.3\",\"GPU Device IDs\":[\"2330\",\"2330\"],"
         "\"test_categories\":[{\"category\":\"Deployment\",\"tests\":[" +
         tests + "]}]}}";
}

std::string dcgm4(const std::string& status, const std::string& summary,
                  const std::string& top = "\"DCGM Diagnostic\":") {
  return "{" + top +
         "{\"metadata\":{\"version\":\"4.2.3\"},\"entity_groups\":["
         "{\"entity_group\":\"GPU\",\"entity_group_id\":1,\"entities\":["
         "{\"entity_id\":0,\"device_id\":\"2330\",\"serial_num\":\"G2\"},"
         "{\"entity_id\":1,\"device_id\":\"2330\",\"serial_num\":\"G1\"}]}],"
         "\"test_categories\":[{\"category\":\"Deployment\",\"tests\":[{\"name\":\"software\","
         "\"results\":[{\"entity_group\":\"GPU\",\"entity_group_id\":1,\"entity_id\":0,"
         "\"status\":\"Pass\"},{\"entity_group\":\"GPU\",\"entity_group_id\":1,\"entity_id\":1,"
         "\"status\":\"" +
         status + "\"}],\"test_summary\":{\"status\":\"" + summary + "\"}}]}]}}";
}

std::vector<DriverGpu> two_gpus() {
  return {{0, {{"G1", "GPU-1", "0000:3B:00.0", "96"}, 0}},
          {1, {{"G2", "GPU-2", "0000:5E:00.0", "96"}, 0}}};
}

DiagnosisReport judged(const std::string& output, int exit = 0,
                       std::vector<DriverGpu> observed = two_gpus()) {
  ToolRun dcgmi;
  dcgmi.out = output;
  dcgmi.exit = exit;
  return judge_diagnosis({1, {"G1", "G2"}}, observed, dcgmi);
}

}  // namespace

TEST_CASE("every named test passes on every expected GPU, in each shape") {
  for (const std::string& output :
       {dcgm3(), "WARNING: x\nError: y\n" + dcgm3(), dcgm4("Pass", "Pass"),
        dcgm3("pass", "0,1", ",\"warnings\":[\"...\"],\"info\":\"fine\"")}) {
    DiagnosisReport report = judged(output);
    INFO(report.reason);
    CHECK(report.verdict == Verdict::kPass);
    CHECK(check_diagnosis(report, {"G1", "G2"}, 1).ok());
    CHECK(DiagnosisReport::from_json(report.to_json()).ok());
  }
  CHECK(judged(dcgm3()).tests.size() == 6);
}

TEST_CASE("the tests may stand at the top of the text") {
  std::string text = dcgm4("Pass", "Pass", "\"x\":");
  text = text.substr(std::string("{\"x\":").size());
  text.pop_back();
  CHECK(judged(text).verdict == Verdict::kPass);
}

TEST_CASE("DCGM 4 knows serials: its ids need not be nvidia-smi's") {
  DiagnosisReport report = judged(dcgm4("Fail", "Fail"));
  CHECK(report.verdict == Verdict::kFail);
  REQUIRE(report.tests.size() == 2);
  CHECK(report.tests[1].gpu == "G1");
  CHECK(report.tests[1].status == "FAIL");
}

TEST_CASE("F11: whatever is not a pass on each GPU is none") {
  for (const char* word : {"FAIL", "WARN", "SKIP", "Skipped", "NOT RUN", "", "Passed", "OK"}) {
    DiagnosisReport report = judged(dcgm3(word));
    CHECK(report.verdict == Verdict::kFail);
    CHECK_FALSE(check_diagnosis(report, {"G1", "G2"}, 1).ok());
  }
  CHECK(judged(dcgm4("Pass", "Skip")).reason == "the summary of test software is no pass");
}

TEST_CASE("F11: a pass with an error beside it is none") {
  for (const char* more : {",\"error\":\"cannot allocate\"", ",\"errors\":[{\"id\":1}]",
                           ",\"error_id\":7", ",\"warnings\":[\"Error: unable to allocate\"]"}) {
    DiagnosisReport report = judged(dcgm3("PASS", "0,1", more));
    CHECK(report.verdict == Verdict::kFail);
    CHECK(report.tests.at(4).status == "PASS WITH ERROR");
  }
  CHECK(judged(dcgm3("PASS", "0,1", ",\"error\":\"\"")).verdict == Verdict::kPass);
}

TEST_CASE("F11: a test that is absent on one GPU fails") {
  for (const char* ids : {"0", "", "0,x", "0,2"}) {
    DiagnosisReport report = judged(dcgm3("PASS", ids));
    CHECK(report.verdict == Verdict::kFail);
    CHECK(report.tests.back().status == "ABSENT");
  }
}

TEST_CASE("no test at all, an exit status or an error of dcgmi fails") {
  CHECK(judged("{\"DCGM GPU Diagnostic\":{\"version\":\"4.2.3\"}}", 1).verdict == Verdict::kFail);
  CHECK(judged("{\"DCGM GPU Diagnostic\":{\"version\":\"4.2.3\"}}", 0).reason ==
        "dcgmi names no test on any GPU");
  CHECK(judged(dcgm3(), 226).reason == "dcgmi ended with 226");
  std::string broken = dcgm3();
  broken.insert(1, "\"runtime_error\":\"nvvs crashed\",");
  CHECK(judged(broken).verdict == Verdict::kFail);
}

TEST_CASE("hostile or broken output is UNKNOWN, never a crash") {
  for (const std::string& text :
       {std::string(), std::string("Successfully ran diagnostic for group."), std::string("[]"),
        std::string("{\"a\":"), std::string(200'000, '{'), std::string("\xff\xfe{}x"),
        std::string("{\"a\":1,\"a\":1}")}) {
    DiagnosisReport report = judged(text);
    CHECK(report.verdict != Verdict::kPass);
    CHECK(DiagnosisReport::from_json(report.to_json()).ok());
  }
}

TEST_CASE("F12: a missing, extra or doubled GPU fails") {
  std::vector<DriverGpu> gpus = two_gpus();
  gpus.pop_back();
  CHECK(judged(dcgm3(), 0, gpus).reason == "missing-gpu: serial G2");
  gpus = two_gpus();
  gpus.push_back({2, {{"G3", "", "", ""}, 0}});
  CHECK(judged(dcgm3(), 0, gpus).verdict == Verdict::kFail);
  gpus = two_gpus();
  gpus.push_back(gpus[0]);
  CHECK(judged(dcgm3(), 0, gpus).verdict == Verdict::kFail);
}

TEST_CASE("memory errors fail, and a GPU that does not count them is UNKNOWN") {
  std::vector<DriverGpu> gpus = two_gpus();
  gpus[1].observed.ecc_uncorrected = 3;
  CHECK(judged(dcgm3(), 0, gpus).verdict == Verdict::kFail);
  gpus[1].observed.ecc_uncorrected = -1;
  DiagnosisReport report = judged(dcgm3(), 0, gpus);
  CHECK(report.verdict == Verdict::kUnknown);
  CHECK(DiagnosisReport::from_json(report.to_json()).ok());
}

TEST_CASE("nvidia-smi's lines") {
  Result<std::vector<DriverGpu>> gpus = parse_gpu_query(
      "0, 1650123, GPU-aa, 00000000:3B:00.0, 96.00.1F, 0\n1, [N/A], GPU-bb, 0:5E, 96, [N/A]\n");
  REQUIRE(gpus.ok());
  REQUIRE(gpus.value().size() == 2);
  CHECK(gpus.value()[0].observed.gpu.serial == "1650123");
  CHECK(gpus.value()[0].observed.ecc_uncorrected == 0);
  CHECK(gpus.value()[1].observed.gpu.serial == "");
  CHECK(gpus.value()[1].observed.ecc_uncorrected == -1);
  CHECK_FALSE(parse_gpu_query("No devices were found\n").ok());
  CHECK_FALSE(parse_gpu_query("0, 1, 2\n").ok());
}

TEST_CASE("no GPU is expected: a pass only if the PCI bus shows none") {
  FakeMachine machine;
  std::string version;
  CHECK(diagnose(machine.root(), {1, {}}, version).verdict == Verdict::kUnknown);
  machine.file("sys/bus/pci/devices/0000:00:01.0/vendor", "0x10de\n");
  machine.file("sys/bus/pci/devices/0000:00:01.0/class", "0x020700\n");  // a NIC of that vendor
  CHECK(diagnose(machine.root(), {1, {}}, version).verdict == Verdict::kPass);
  machine.file("sys/bus/pci/devices/0000:3b:00.0/vendor", "0x10de\n");
  machine.file("sys/bus/pci/devices/0000:3b:00.0/class", "0x030200\n");
  CHECK(diagnose(machine.root(), {1, {}}, version).verdict == Verdict::kFail);
}

TEST_CASE("a whole diagnosis with the tools") {
  FakeMachine machine;
  for (const char* address : {"0000:3b:00.0", "0000:5e:00.0"}) {
    std::string folder = std::string("sys/bus/pci/devices/") + address;
    machine.file(folder + "/vendor", "0x10de\n");
    machine.file(folder + "/class", "0x030200\n");
  }
  machine.tool("nvidia-smi",
               "case \"$1\" in --query*) echo '0, G1, GPU-1, 0000:3B:00.0, 96, 0'\n"
               "echo '1, G2, GPU-2, 0000:5E:00.0, 96, 0';; --gpu-reset) exit 0;; esac");
  machine.tool("dcgmi", "cat <<'END'\n" + dcgm3() + "\nEND");
  std::string version;
  DiagnosisReport report = diagnose(machine.root(), {1, {"G1", "G2"}}, version);
  INFO(report.reason);
  CHECK(report.verdict == Verdict::kPass);
  CHECK(version == "3.1.3");
  machine.tool("dcgmi", "exit 127");
  CHECK(diagnose(machine.root(), {1, {"G1", "G2"}}, version).verdict == Verdict::kUnknown);
}

TEST_CASE("a GPU reset that is refused fails") {
  FakeMachine machine;
  machine.file("sys/bus/pci/devices/0000:3b:00.0/vendor", "0x10de\n");
  machine.file("sys/bus/pci/devices/0000:3b:00.0/class", "0x030200\n");
  machine.tool("nvidia-smi",
               "case \"$1\" in --query*) echo '0, G1, GPU-1, 0000:3B:00.0, 96, 0';;\n"
               "--gpu-reset) echo in use; exit 2;; esac");
  machine.tool("dcgmi", "cat <<'END'\n" + dcgm4("Pass", "Pass") + "\nEND");
  std::string version;
  DiagnosisReport report = diagnose(machine.root(), {1, {"G1"}}, version);
  CHECK(report.verdict == Verdict::kFail);
}

TEST_CASE("bad arguments of diag.dcgm are refused") {
  CHECK(parse_diagnosis_args({{"level", 1}, {"gpus", Json::array({"G1"})}}).ok());
  CHECK_FALSE(parse_diagnosis_args({{"level", 0}, {"gpus", Json::array()}}).ok());
  CHECK_FALSE(parse_diagnosis_args({{"level", 5}, {"gpus", Json::array()}}).ok());
  CHECK_FALSE(parse_diagnosis_args({{"level", 1}, {"gpus", Json::array({1})}}).ok());
  CHECK_FALSE(parse_diagnosis_args({{"level", 1}}).ok());
}
