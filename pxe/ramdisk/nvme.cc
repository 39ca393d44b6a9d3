#include "pxe/ramdisk/nvme.h"

#include <algorithm>
#include <charconv>

#include "core/base/limits.h"

namespace leasehold {
namespace {

// nvme-cli prints 128-bit numbers as a number or, beyond 64 bits, as text of digits.
Result<uint64_t> number(const Json& object, const std::string& key) {
  const Json& member = json_member(object, key);
  if (member.is_number_unsigned()) return member.get<uint64_t>();
  if (member.is_string()) {
    const auto& text = member.get_ref<const std::string&>();
    uint64_t value = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem == std::errc() && end == text.data() + text.size()) return value;
  }
  if (member.is_number_float()) {
    double value = member.get<double>();
    if (value >= 0 && value < 9e18) return static_cast<uint64_t>(value);
  }
  return Error(Code::kMalformed, "id-ctrl has no number \"" + key + "\"");
}

size_t count_key(const Json& value, const std::string& key) {
  if (!value.is_structured()) return 0;
  size_t count = 0;
  for (const auto& [name, member] : value.items()) {
    if (value.is_object() && name == key && member.is_number_integer()) ++count;
    count += count_key(member, key);
  }
  return count;
}

const Json* find_object_with(const Json& value, const std::string& key) {
  if (!value.is_structured()) return nullptr;
  if (value.is_object() && value.contains(key)) return &value;
  for (const Json& member : value) {
    if (const Json* found = find_object_with(member, key)) return found;
  }
  return nullptr;
}

// nvme-cli 1.x prints SSTAT as a number, 2.x as {"status": "(1) Most Recent ..."}.
int sanitize_status(const Json& sstat) {
  if (sstat.is_number_unsigned()) return static_cast<int>(sstat.get<uint64_t>() & 7);
  const Json& status = json_member(sstat, "status");
  if (status.is_number_unsigned()) return static_cast<int>(status.get<uint64_t>() & 7);
  std::string text = json_text(sstat, "status");
  if (text.size() >= 3 && text[0] == '(' && text[1] >= '0' && text[1] <= '7' && text[2] == ')') {
    return text[1] - '0';
  }
  return -1;
}

// Honest by default: only figures that add up say that nothing is hidden.
HiddenAreas hidden_areas_of(const NvmeController& controller, uint64_t namespace_bytes,
                            size_t namespaces) {
  if (namespaces > 1) return HiddenAreas::kPresent;
  if (controller.tnvmcap == 0 || controller.tnvmcap == namespace_bytes) return HiddenAreas::kNone;
  bool spare = controller.tnvmcap > namespace_bytes && controller.unvmcap > 0;
  return spare ? HiddenAreas::kPresent : HiddenAreas::kUnknown;
}

ToolRun run_recorded(std::vector<std::string> argv, int64_t timeout_ms,
                     std::vector<WipeCommand>& commands) {
  ToolRun run = run_tool(std::move(argv), timeout_ms);
  commands.push_back(run.record());
  return run;
}

Status refused(const ToolRun& run) {
  std::string said = run.err.empty() ? run.out : run.err;
  return Error(Code::kRefused, run.argv[0] + " " + run.argv[1] + " ended with " +
                                   std::to_string(run.exit) + ": " + printable(trimmed(said), 160));
}

Status await_sanitize(const BlockDevice& device, Clock& clock, std::vector<WipeCommand>& commands) {
  int64_t deadline_ms = clock.monotonic_ms() + limits::kRamdiskSanitizeMs;
  int64_t wait_ms = limits::kRamdiskSanitizePollFirstMs;
  while (true) {
    ToolRun run =
        run_tool({"nvme", "sanitize-log", device.path, "-o", "json"}, limits::kRamdiskToolMs);
    Result<SanitizeState> state = parse_sanitize_log(run.out);
    bool running = run.ok() && state.ok() && state.value() == SanitizeState::kRunning;
    bool late = clock.monotonic_ms() >= deadline_ms;
    if (!running || late) commands.push_back(run.record());
    if (!run.ok()) return refused(run);
    if (!state.ok()) return state.error();
    if (state.value() == SanitizeState::kDone) return {};
    if (!running) return Error(Code::kRefused, "the sanitize operation failed");
    if (late) return Error(Code::kTimeout, "the sanitize operation did not end in time");
    clock.sleep_ms(wait_ms);
    wait_ms = std::min(wait_ms * 2, limits::kRamdiskSanitizePollMaxMs);
  }
}

}  // namespace

Result<NvmeController> parse_id_ctrl(const std::string& output) {
  Json id = TRY(tool_json(output));
  uint64_t oacs = TRY(number(id, "oacs"));
  uint64_t fna = TRY(number(id, "fna"));
  uint64_t sanicap = TRY(number(id, "sanicap"));
  NvmeController controller;
  controller.format = (oacs & 2) != 0;
  controller.namespace_management = (oacs & 8) != 0;
  controller.format_crypto = (fna & 4) != 0;
  controller.sanitize_crypto = (sanicap & 1) != 0;
  controller.sanitize_block = (sanicap & 2) != 0;
  controller.tnvmcap = TRY(number(id, "tnvmcap"));
  controller.unvmcap = number(id, "unvmcap").value_or(0);
  return controller;
}

Result<size_t> parse_namespace_count(const std::string& output) {
  Json list = TRY(tool_json(output));
  size_t count = count_key(list, "nsid");
  if (count == 0) return Error(Code::kMalformed, "list-ns names no namespace");
  return count;
}

Result<SanitizeState> parse_sanitize_log(const std::string& output) {
  Json log = TRY(tool_json(output));
  const Json* entry = find_object_with(log, "sstat");
  if (entry == nullptr) return Error(Code::kMalformed, "the sanitize log has no sstat");
  switch (sanitize_status((*entry)["sstat"])) {
    case 0:
      return SanitizeState::kIdle;
    case 1:
    case 4:
      return SanitizeState::kDone;
    case 2:
      return SanitizeState::kRunning;
    case 3:
      return SanitizeState::kFailed;
    default:
      return Error(Code::kMalformed, "the sanitize log has an unknown status");
  }
}

NvmeProbe probe_nvme(const BlockDevice& device, std::vector<WipeCommand>& commands) {
  NvmeProbe probe;
  probe.namespaces = 1 + device.other_namespaces.size();
  ToolRun run = run_recorded({"nvme", "id-ctrl", device.path, "-o", "json"}, limits::kRamdiskToolMs,
                             commands);
  Result<NvmeController> controller = parse_id_ctrl(run.out);
  if (!run.ok() || !controller.ok()) {
    probe.problem = run.ok() ? controller.error().message : refused(run).error().message;
    return probe;
  }
  probe.controller = controller.value();
  bool all_seen = true;
  if (probe.controller.namespace_management) {
    ToolRun list = run_recorded({"nvme", "list-ns", device.path, "--all", "-o", "json"},
                                limits::kRamdiskToolMs, commands);
    Result<size_t> count = parse_namespace_count(list.out);
    all_seen = list.ok() && count.ok();
    if (all_seen) probe.namespaces = std::max(probe.namespaces, count.value());
  }
  probe.hidden_areas = hidden_areas_of(probe.controller, device.capacity_bytes, probe.namespaces);
  if (!all_seen && probe.hidden_areas == HiddenAreas::kNone) {
    probe.hidden_areas = HiddenAreas::kUnknown;
  }
  return probe;
}

WipeMethod nvme_erase_strength(NvmeErase) { return WipeMethod::kPurge; }

std::vector<NvmeErase> nvme_erase_plan(const NvmeController& controller) {
  std::vector<NvmeErase> plan;
  if (controller.sanitize_crypto) plan.push_back(NvmeErase::kSanitizeCrypto);
  if (controller.sanitize_block) plan.push_back(NvmeErase::kSanitizeBlock);
  if (controller.format && controller.format_crypto) plan.push_back(NvmeErase::kFormatCrypto);
  if (controller.format) plan.push_back(NvmeErase::kFormatUserData);
  return plan;
}

std::string nvme_technique(NvmeErase erase) {
  switch (erase) {
    case NvmeErase::kSanitizeCrypto:
      return "NVMe Sanitize, crypto erase";
    case NvmeErase::kSanitizeBlock:
      return "NVMe Sanitize, block erase";
    case NvmeErase::kFormatCrypto:
      return "NVMe Format, SES 2 (cryptographic erase)";
    case NvmeErase::kFormatUserData:
      return "NVMe Format, SES 1 (user data erase)";
  }
  return "";
}

Status finish_running_sanitize(const BlockDevice& device, const NvmeController& controller,
                               Clock& clock, std::vector<WipeCommand>& commands) {
  if (!controller.sanitize_crypto && !controller.sanitize_block) return {};
  ToolRun run =
      run_tool({"nvme", "sanitize-log", device.path, "-o", "json"}, limits::kRamdiskToolMs);
  Result<SanitizeState> state = parse_sanitize_log(run.out);
  bool running = run.ok() && state.ok() && state.value() == SanitizeState::kRunning;
  if (!running) return {};
  Status ended = await_sanitize(device, clock, commands);
  // That it failed is no matter: the erase that follows is judged by itself.
  if (!ended.ok() && ended.error().code == Code::kTimeout) return ended;
  return {};
}

Status run_nvme_erase(const BlockDevice& device, NvmeErase erase, Clock& clock,
                      std::vector<WipeCommand>& commands) {
  if (erase == NvmeErase::kSanitizeCrypto || erase == NvmeErase::kSanitizeBlock) {
    std::string action = erase == NvmeErase::kSanitizeCrypto ? "--sanact=4" : "--sanact=2";
    ToolRun run =
        run_recorded({"nvme", "sanitize", device.path, action}, limits::kRamdiskToolMs, commands);
    if (!run.ok()) return refused(run);
    return await_sanitize(device, clock, commands);
  }
  std::string ses = erase == NvmeErase::kFormatCrypto ? "--ses=2" : "--ses=1";
  // --force only leaves out nvme-cli's ten seconds for a person to change their mind.
  std::string timeout = "--timeout=" + std::to_string(limits::kRamdiskFormatMs);
  ToolRun run = run_recorded({"nvme", "format", device.path, ses, "--force", timeout},
                             limits::kRamdiskFormatMs, commands);
  if (!run.ok()) return refused(run);
  return {};
}

}  // namespace leasehold
