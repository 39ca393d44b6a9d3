#include "simsite/tools/nvme_recorded.h"
#include "simsite/tools/tool.h"

namespace leasehold::simsite {
namespace {

std::string padded(std::string text, size_t width) {
  text.resize(width, ' ');
  return text;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string fill_in(const char* recorded, const Disk& disk) {
  std::string text = recorded;
  replace_all(text, "@SN@", padded(disk.config.serial, 20));
  replace_all(text, "@MN@", padded(disk.config.model, 40));
  replace_all(text, "@SERIAL@", disk.config.serial);
  replace_all(text, "@MODEL@", disk.config.model);
  replace_all(text, "@NAME@", disk.name);
  replace_all(text, "@BYTES@", std::to_string(disk.bytes()));
  replace_all(text, "@SECTORS@", std::to_string(disk.bytes() / 512));
  return text;
}

// "/dev/nvme0n1" and "/dev/nvme0" are the same simulated disk.
const Disk* find_disk(const ToolHardware& hardware, const std::string& device) {
  std::string name = device.substr(device.rfind('/') + 1);
  for (const Disk& disk : hardware.disks) {
    if (name == disk.name || name + "n1" == disk.name) return &disk;
  }
  return nullptr;
}

ToolResult list(const ToolHardware& hardware) {
  std::string out = "{\n  \"Devices\":[\n";
  for (size_t i = 0; i < hardware.disks.size(); ++i) {
    out += fill_in(kListDevice, hardware.disks[i]);
    out += i + 1 < hardware.disks.size() ? ",\n" : "\n";
  }
  return {0, out + "  ]\n}\n", ""};
}

// A format without --ses is one with SES 0, which need not erase anything (quirk DK1): it does not.
ToolCall format(const Disk& disk, const std::string& device, const ToolArguments& arguments) {
  bool block_device = device.ends_with(disk.name);
  const std::string* nsid = arguments.option("namespace-id", "n");
  std::string shown = block_device || nsid == nullptr || *nsid == "1" ? "1" : "ffffffff";
  ToolCall call;
  if (arguments.option("force", "f") == nullptr) {
    call.result.err = kFormatWarning;
    replace_all(call.result.err, "@NAME@", device.substr(device.rfind('/') + 1));
    replace_all(call.result.err, "@NSID@", shown);
  }
  call.result.out = "Success formatting namespace:" + shown + "\n";
  const std::string* ses = arguments.option("ses", "s");
  if (ses != nullptr && *ses != "0") call.erases = &disk;
  return call;
}

}  // namespace

ToolCall run_nvme(const ToolHardware& hardware, const std::vector<std::string>& argv) {
  ToolArguments arguments = parse_tool_arguments(argv, {"force", "reset", "r", "all", "a-all"});
  std::string verb = arguments.operands.empty() ? "" : arguments.operands[0];
  if (verb == "version") {
    return {{0, "nvme version 2.3 (git 2.3)\nlibnvme version 1.3 (git 1.3)\n", ""}};
  }
  if (verb == "list") return {list(hardware)};
  std::string device = arguments.operands.size() > 1 ? arguments.operands[1] : "";
  const Disk* disk = find_disk(hardware, device);
  if (disk == nullptr) return {{1, "", device + ": No such file or directory\n"}};
  if (verb == "id-ctrl") return {{0, fill_in(kIdCtrl, *disk), ""}};
  if (verb == "id-ns") return {{0, fill_in(kIdNs, *disk), ""}};
  if (verb == "list-ns") return {{0, kListNs, ""}};
  if (verb == "format") return format(*disk, device, arguments);
  if (verb == "sanitize") return {{1, "", kInvalidOpcode}};
  if (verb == "sanitize-log") return {{1, "", kInvalidField}};
  return {{1, "ERROR: Invalid sub-command '" + verb + "'\nnvme-2.3\n", ""}};
}

}  // namespace leasehold::simsite
