#include "simsite/tools/tool.h"

#include <algorithm>

namespace leasehold::simsite {
namespace {

// The GPUs that are there: a lie may hide one, as a GPU that fell off the bus.
std::vector<GpuConfig> visible_gpus(const std::vector<GpuConfig>& gpus, const Json& lie) {
  std::vector<GpuConfig> visible;
  std::string missing = json_text(lie, "missing");
  for (const GpuConfig& gpu : gpus) {
    if (gpu.serial != missing && missing != "all") visible.push_back(gpu);
  }
  return visible;
}

}  // namespace

const std::string* ToolArguments::option(const std::string& long_name,
                                         const std::string& short_name) const {
  const std::string* value = nullptr;
  for (const auto& [name, text] : options) {
    if (name == long_name || (!short_name.empty() && name == short_name)) value = &text;
  }
  return value;
}

ToolArguments parse_tool_arguments(const std::vector<std::string>& argv,
                                   const std::vector<std::string>& flags) {
  ToolArguments out;
  for (size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i];
    if (word.size() < 2 || word[0] != '-') {
      out.operands.push_back(word);
      continue;
    }
    std::string name = word.substr(word.find_first_not_of('-'));
    size_t equals = name.find('=');
    if (equals != std::string::npos) {
      out.options.push_back({name.substr(0, equals), name.substr(equals + 1)});
    } else if (std::find(flags.begin(), flags.end(), name) != flags.end()) {
      out.options.push_back({name, ""});
    } else if (i + 1 < argv.size()) {
      out.options.push_back({name, argv[++i]});
    } else {
      out.options.push_back({name, ""});
    }
  }
  return out;
}

ToolCall run_tool(const ToolHardware& hardware, const std::vector<std::string>& argv,
                  const Json& lie) {
  std::string name = argv.empty() ? "" : argv[0].substr(argv[0].rfind('/') + 1);
  if (name == "nvme") return run_nvme(hardware, argv);
  if (name == "dcgmi") return {run_dcgmi(visible_gpus(hardware.gpus, lie), argv, lie)};
  if (name == "nvidia-smi") {
    return {run_nvidia_smi(visible_gpus(hardware.gpus, lie), argv, lie), nullptr,
            resets_gpus(argv)};
  }
  return {{127, "", name + ": command not found\n"}};
}

}  // namespace leasehold::simsite
