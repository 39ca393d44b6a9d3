#include "agent/hardware_history.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/db/row_store.h"
#include "core/evidence/disk.h"
#include "core/tls/crypto.h"

namespace leasehold {
namespace {

constexpr size_t kSerialLeastBytes = 3;
constexpr size_t kKeyDigits = 40;

// What boards, disks and firmware say in place of a serial.
constexpr std::array<std::string_view, 16> kNoSerials = {"to be filled by o.e.m.",
                                                         "to be filled by oem",
                                                         "not specified",
                                                         "not available",
                                                         "not applicable",
                                                         "default string",
                                                         "system serial number",
                                                         "base board serial number",
                                                         "chassis serial number",
                                                         "none",
                                                         "unknown",
                                                         "n/a",
                                                         "0123456789",
                                                         "123456789",
                                                         "1234567890",
                                                         "03000200-0400-0500-0006-000700080009"};

// "disk SN001A" -> the key of its row, for each thing that a node shows of its hardware.
using Items = std::map<std::string, std::string>;

std::string row_key(const std::string& item) {
  return "h-" + sha256_hex(item).substr(0, kKeyDigits);
}

void add(Items& items, const std::string& kind, const std::string& what) {
  if (what.empty()) return;
  std::string item = kind + " " + what;
  items[item] = row_key(item);
}

void add_macs(Items& items, const Json& list, const char* member) {
  if (!list.is_array()) return;
  for (const Json& each : list) {
    if (each.is_string()) add(items, "MAC", each.get<std::string>());
    if (member != nullptr) add(items, "MAC", json_text(each, member));
  }
}

void add_board(Items& items, const Json& system) {
  SystemInfo info{json_text(system, "manufacturer"), json_text(system, "product"),
                  json_text(system, "serial"), json_text(system, "uuid"),
                  json_text(system, "board_serial")};
  add(items, "hardware key", hardware_key_of(info));
  // Other makers count from the same number.
  std::string board = credible_serial(info.board_serial);
  if (!board.empty()) add(items, "board", info.manufacturer + " " + board);
}

Items items_of(const NodeRow& node) {
  Items items;
  add(items, "BMC", node.bmc_url);
  add(items, "MAC", node.boot_mac);
  add(items, "hardware key", node.hardware_key);
  add_macs(items, json_member(node.claims, "macs"), nullptr);
  add_macs(items, json_member(node.inventory, "nics"), "mac");
  add_board(items, json_member(node.inventory, "system"));
  for (const Json& disk : node.disks) {
    std::string wwn = json_text(disk, "wwn");
    add(items, "disk",
        wwn.empty() ? json_text(disk, "model") + " " + json_text(disk, "serial") : wwn);
  }
  for (const Json& gpu : node.gpus) {
    if (gpu.is_string()) add(items, "GPU", credible_serial(gpu.get<std::string>()));
  }
  return items;
}

// Most changes of a node's row are about something else.
bool shows_the_same(const NodeRow& a, const NodeRow& b) {
  return a.bmc_url == b.bmc_url && a.boot_mac == b.boot_mac && a.hardware_key == b.hardware_key &&
         a.claims == b.claims && a.inventory == b.inventory && a.disks == b.disks &&
         a.gpus == b.gpus && (a.state == b.state || b.state != NodeState::kEnrolling);
}

Result<NodeId> owner_of(Sql& sql, const std::string& key) {
  return NodeId(json_text(TRY(row_store::get(sql, "hardware", key)), "node"));
}

Status write_down(Sql& sql, const std::string& item, const std::string& key, const NodeId& node) {
  Json row = {{"table", "hardware"},
              {"schema", 1},
              {"hardware", key},
              {"item", item},
              {"node", node.str()}};
  return row_store::put(sql, RowChange{"hardware", key, std::move(row)});
}

Error known(Sql& sql, const std::string& item, const NodeId& owner) {
  Json row = row_store::get(sql, "node", owner.str()).value_or(Json());
  Result<NodeRow> other = NodeRow::parse(row);
  std::string says = item + " belongs to node " + owner.str();
  if (!other.ok()) return Error(Code::kMachineKnown, says);
  says += ", which is " + std::string(node_state_name(other.value().state));
  if (!other.value().lease.empty()) {
    says += " and whose lease " + other.value().lease.str() + " was not cleared: its whole " +
            "release comes first";
  }
  return Error(Code::kMachineKnown, says);
}

Status forget(Sql& sql, const NodeRow& before, const Items& kept) {
  if (!TRY(row_store::all(sql, "lease", before.id.str())).empty()) return {};
  for (const auto& [item, key] : items_of(before)) {
    if (kept.contains(item)) continue;
    if (TRY(owner_of(sql, key)) == before.id) TRY(row_store::erase(sql, "hardware", key));
  }
  return {};
}

}  // namespace

std::string credible_serial(const std::string& text) {
  size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  std::string word = text.substr(first, text.find_last_not_of(" \t") - first + 1);
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (std::find(kNoSerials.begin(), kNoSerials.end(), word) != kNoSerials.end()) return "";
  std::string digits = word;
  std::erase_if(digits, [](char c) { return c == '-' || c == ' ' || c == '.'; });
  bool one_letter = digits.find_first_not_of(digits.substr(0, 1)) == std::string::npos;
  return digits.size() < kSerialLeastBytes || one_letter ? "" : word;
}

std::string hardware_key_of(const SystemInfo& system) {
  std::string uuid = credible_serial(system.uuid);
  std::string board = credible_serial(system.board_serial);
  return uuid.empty() && board.empty() ? "" : sha256_hex(uuid + "\n" + board);
}

Status note_hardware(Sql& sql, const NodeRow* before, const NodeRow& after) {
  if (before != nullptr && shows_the_same(*before, after)) return {};
  Items items = items_of(after);
  Items unowned;
  bool enrolling = after.state == NodeState::kEnrolling;
  for (const auto& [item, key] : items) {
    NodeId owner = TRY(owner_of(sql, key));
    if (owner.empty()) unowned[item] = key;
    if (!owner.empty() && owner != after.id && enrolling) return known(sql, item, owner);
  }
  for (const auto& [item, key] : unowned) TRY(write_down(sql, item, key, after.id));
  if (enrolling && before != nullptr) TRY(forget(sql, *before, items));
  return {};
}

Result<NodeId> owner_of_bmc(Sql& sql, const std::string& url) {
  return owner_of(sql, row_key("BMC " + url));
}

Result<NodeId> owner_of_mac(Sql& sql, const std::string& mac) {
  return owner_of(sql, row_key("MAC " + mac));
}

Status note_all_hardware(Sql& sql) {
  for (const Json& row : TRY(row_store::all(sql, "node"))) {
    Result<NodeRow> node = NodeRow::parse(row);
    if (!node.ok()) continue;  // it is not touched, and says so elsewhere
    for (const auto& [item, key] : items_of(node.value())) {
      if (!TRY(owner_of(sql, key)).empty()) continue;
      TRY(write_down(sql, item, key, node.value().id));
    }
  }
  return {};
}

}  // namespace leasehold
