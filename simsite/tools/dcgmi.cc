#include "simsite/tools/tool.h"

namespace leasehold::simsite {
namespace {

// The Deployment tests of level 1, in the order in which dcgmi 3.x prints them.
constexpr const char* kDeployment[] = {"Denylist",
                                       "NVML Library",
                                       "CUDA Main Library",
                                       "Permissions and OS-related Blocks",
                                       "Persistence Mode",
                                       "Environmental Variables",
                                       "Page Retirement/Row Remap",
                                       "Graphics Processes",
                                       "Inforom"};

std::string test_status(const std::string& name, const Json& lie) {
  std::string spoiled = json_text(lie, "test");
  std::string status = json_text(lie, "status");
  bool hit = !status.empty() && (spoiled.empty() || spoiled == name);
  return hit ? status : "PASS";
}

// dcgmi puts a null between the tests; a parser must live with it.
Json deployment_tests(const std::string& gpu_ids, const Json& lie) {
  Json tests = Json::array();
  for (const char* name : kDeployment) {
    if (!tests.empty()) tests.push_back(nullptr);
    Json result = {{"gpu_ids", gpu_ids}, {"status", test_status(name, lie)}};
    tests.push_back({{"name", name}, {"results", Json::array({result})}});
  }
  return tests;
}

ToolResult diag(const std::vector<GpuConfig>& gpus, const Json& lie) {
  constexpr const char* kTop = "DCGM GPU Diagnostic";
  if (gpus.empty()) {
    return {1, dump_json_pretty({{kTop, {{"version", "3.1.3"}}}}) + "\n",
            "Error: unable to run diagnostic: no supported GPUs found.\n"};
  }
  std::string ids;
  Json devices = Json::array();
  for (size_t i = 0; i < gpus.size(); ++i) {
    ids += (i == 0 ? "" : ",") + std::to_string(i);
    devices.push_back("2330");
  }
  Json category = {{"category", "Deployment"}, {"tests", deployment_tests(ids, lie)}};
  Json report = {{"version", "3.1.3"},
                 {"Driver Version Detected", "525.85.12"},
                 {"GPU Device IDs", devices},
                 {"test_categories", Json::array({category})}};
  return {0, dump_json_pretty({{kTop, report}}) + "\n", ""};
}

}  // namespace

ToolResult run_dcgmi(const std::vector<GpuConfig>& gpus, const std::vector<std::string>& argv,
                     const Json& lie) {
  ToolArguments arguments = parse_tool_arguments(argv, {"j", "json", "version", "v"});
  if (arguments.option("version", "v") != nullptr) return {0, "dcgmi  version: 3.1.3\n", ""};
  bool level_one = false;
  if (const std::string* level = arguments.option("run", "r")) level_one = *level == "1";
  bool json = arguments.option("json", "j") != nullptr;
  if (arguments.operands.empty() || arguments.operands[0] != "diag" || !level_one || !json) {
    return {1, "", "Error: only \"dcgmi diag -r 1 -j\" is simulated.\n"};
  }
  return diag(gpus, lie);
}

}  // namespace leasehold::simsite
