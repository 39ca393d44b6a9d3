#include <sstream>

#include "simsite/tools/tool.h"

namespace leasehold::simsite {
namespace {

std::string field_value(const GpuConfig& gpu, size_t index, const std::string& field,
                        const Json& lie) {
  if (field == "index") return std::to_string(index);
  if (field == "serial") return gpu.serial;
  if (field == "uuid" || field == "gpu_uuid") return gpu.uuid;
  if (field == "pci.bus_id" || field == "gpu_bus_id") return gpu.pci;
  if (field == "vbios_version") return gpu.vbios;
  if (field == "ecc.errors.uncorrected.volatile.total") {
    return std::to_string(json_int_or(lie, "ecc", 0).value_or(0));
  }
  if (field == "name") return "NVIDIA H100 80GB HBM3";
  return "";
}

ToolResult query(const std::vector<GpuConfig>& gpus, const std::string& fields, const Json& lie) {
  if (gpus.empty()) return {6, "No devices were found\n", ""};
  std::string out;
  for (size_t i = 0; i < gpus.size(); ++i) {
    std::istringstream list(fields);
    std::string field;
    std::string line;
    while (std::getline(list, field, ',')) {
      std::string value = field_value(gpus[i], i, field, lie);
      if (value.empty())
        return {2, "Field \"" + field + "\" is not a valid field to query.\n\n", ""};
      line += (line.empty() ? "" : ", ") + value;
    }
    out += line + "\n";
  }
  return {0, out, ""};
}

ToolResult reset(const std::vector<GpuConfig>& gpus) {
  std::string out;
  for (const GpuConfig& gpu : gpus) out += "GPU " + gpu.pci + " was successfully reset.\n";
  return {0, out + "All done.\n", ""};
}

}  // namespace

bool resets_gpus(const std::vector<std::string>& argv) {
  ToolArguments arguments = parse_tool_arguments(argv, {"gpu-reset", "r"});
  return arguments.option("gpu-reset", "r") != nullptr;
}

ToolResult run_nvidia_smi(const std::vector<GpuConfig>& gpus, const std::vector<std::string>& argv,
                          const Json& lie) {
  if (resets_gpus(argv)) return reset(gpus);
  ToolArguments arguments = parse_tool_arguments(argv, {});
  const std::string* fields = arguments.option("query-gpu", "");
  const std::string* format = arguments.option("format", "");
  if (fields == nullptr || format == nullptr || *format != "csv,noheader") {
    return {1, "", "only --query-gpu=... --format=csv,noheader and --gpu-reset are simulated\n"};
  }
  return query(gpus, *fields, lie);
}

}  // namespace leasehold::simsite
