#include "agent/steps/manifest.h"

#include <algorithm>
#include <set>

#include "agent/hardware_history.h"
#include "agent/workflows/names.h"

namespace leasehold {
namespace {

using Words = std::set<std::string>;

Error mismatch(const std::string& what) { return Error(Code::kHardwareMismatch, what); }

bool matches_one(const std::vector<std::string>& globs, const std::string& text) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return glob_matches(glob, text); });
}

// SMBIOS keeps the first three fields little-endian, and not every BMC knows (RFC 4122, 4.1.2).
std::string other_byte_order(const std::string& uuid) {
  if (uuid.size() != 36) return "";
  std::string swapped = uuid;
  const std::pair<size_t, size_t> fields[] = {{0, 8}, {9, 4}, {14, 4}};
  for (auto [from, length] : fields) {
    for (size_t i = 0; i < length; i += 2) {
      swapped.replace(from + i, 2, uuid, from + length - 2 - i, 2);
    }
  }
  return swapped;
}

void add(Words& words, const std::string& text) {
  std::string word = credible_serial(text);
  if (!word.empty()) words.insert(word);
}

bool share(const Words& a, const Words& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& word) { return b.contains(word); });
}

Status check_profile(const MachineRule& rule, const InventoryReport& report) {
  const SystemInfo& system = report.system;
  if (!rule.manufacturers.empty() && !matches_one(rule.manufacturers, system.manufacturer)) {
    return mismatch("its manufacturer is \"" + system.manufacturer + "\"");
  }
  if (!rule.products.empty() && !matches_one(rule.products, system.product)) {
    return mismatch("it is a \"" + system.product + "\"");
  }
  auto counted = [](size_t found, int64_t wanted, const std::string& what) -> Status {
    if (static_cast<int64_t>(found) == wanted) return {};
    return mismatch("it shows " + std::to_string(found) + " " + what + ", the profile says " +
                    std::to_string(wanted));
  };
  if (rule.disks != 0) TRY(counted(report.disks.size(), rule.disks, "disks"));
  if (rule.gpus) TRY(counted(report.gpus.size(), *rule.gpus, "GPUs"));
  return {};
}

Result<DiskManifest> manifest_of(const InventoryReport& report) {
  if (report.disks.empty()) return mismatch("the ramdisk sees no disk");
  DiskManifest manifest{report.disks};
  Result<DiskManifest> sound = DiskManifest::from_json(manifest.to_json());
  if (!sound.ok()) return mismatch("its disks: " + sound.error().message);
  return sound;
}

Result<Json> gpus_of(const InventoryReport& report) {
  Words serials;
  for (const Gpu& gpu : report.gpus) {
    if (gpu.serial.empty()) return mismatch("the GPU at " + gpu.pci + " does not say its serial");
    if (!serials.insert(gpu.serial).second) {
      return mismatch("two GPUs have the serial " + gpu.serial);
    }
  }
  return Json(serials);
}

Status check_machine(const NodeRow& node, const HardwareProfile& profile,
                     const InventoryReport& report) {
  TRY(check_profile(profile.machine, report));
  if (is_same_machine(node.claims, report) == SameMachine::kNo) {
    return mismatch("the machine that booted (serial \"" + report.system.serial +
                    "\") is not the one behind this BMC (serial \"" +
                    json_text(node.claims, "serial") + "\"): check the boot MAC");
  }
  return {};
}

// The manifest of a machine that has been leased stays: a disk that is not there any more may hold
// a tenant's bytes. That it is equal was checked when the inventory arrived.
Status learn(NodeRow& node, const InventoryReport& report) {
  std::string key = hardware_key_of(report.system);
  if (key.empty()) return mismatch("it says neither a UUID nor a board serial of its own");
  if (!node.disks.empty()) {
    if (node.hardware_key.empty() || node.hardware_key == key) {
      node.hardware_key = key;
      return {};
    }
    return mismatch("its board is another one than before");
  }
  DiskManifest manifest = TRY(manifest_of(report));
  node.gpus = TRY(gpus_of(report));
  node.disks = manifest.to_json();
  node.hardware_key = key;
  return {};
}

}  // namespace

SameMachine is_same_machine(const Json& claims, const InventoryReport& report) {
  Words said, shown;
  add(said, json_text(claims, "serial"));
  add(said, json_text(claims, "sku"));
  add(shown, report.system.serial);
  add(shown, report.system.board_serial);
  Words uuids_said, uuids_shown;
  add(uuids_said, json_text(claims, "uuid"));
  add(uuids_shown, report.system.uuid);
  add(uuids_shown, other_byte_order(report.system.uuid));
  Words macs_said, macs_shown;
  const Json& macs = json_member(claims, "macs");
  for (const Json& mac : macs.is_array() ? macs : Json::array()) {
    if (mac.is_string()) macs_said.insert(mac.get<std::string>());
  }
  macs_shown.insert(report.macs.begin(), report.macs.end());
  bool comparable = false;
  const std::pair<const Words*, const Words*> kinds[] = {
      {&said, &shown}, {&uuids_said, &uuids_shown}, {&macs_said, &macs_shown}};
  for (auto [a, b] : kinds) {
    if (share(*a, *b)) return SameMachine::kYes;
    comparable = comparable || (!a->empty() && !b->empty());
  }
  return comparable ? SameMachine::kNo : SameMachine::kCannotSay;
}

StepOutcome take_manifest(const Tools&, StepContext& context) {
  Result<NodeRow> loaded = node_of(context);
  if (!loaded.ok()) return loaded.error();
  NodeRow& node = loaded.value();
  Result<HardwareProfile> profile = profile_of(context);
  if (!profile.ok()) return profile.error();
  const Json& body = json_member(context.output(kInventoryPlace), "inventory");
  Result<InventoryReport> report = InventoryReport::from_json(body);
  if (!report.ok()) return Error(Code::kInternal, "the inventory: " + report.error().message);
  Status machine = check_machine(node, profile.value(), report.value());
  if (!machine.ok()) return machine.error();
  Status learned = learn(node, report.value());
  if (!learned.ok()) return learned.error();
  node.inventory = body;
  Json output = {
      {"disks", node.disks.size()}, {"gpus", node.gpus.size()}, {"hardwareKey", node.hardware_key}};
  return Done{std::move(output), {node.change()}, {}};
}

}  // namespace leasehold
