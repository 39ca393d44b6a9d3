// The `hardware_profile` row: how one kind of machine is driven, where its firmware versions are
// found, how long it takes, and who vetted it. Read where the row enters and by the steps. Values
// only, any thread. An unknown field is refused, never skipped.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace leasehold {

// How a reported version is written before it is compared, exactly, with the baseline (quirk F4).
enum class VersionForm {
  kExact,        // as it stands
  kTrim,         // without blanks at both ends
  kStripPrefix,  // trimmed, and without `prefix` if it begins with that
  kDotted        // trimmed, and numbers between dots without leading zeros: 01.02.00 -> 1.2.0
};

// Which entries of the firmware inventory are one component: their versions must all agree.
struct ComponentRule {
  std::vector<std::string> ids;    // globs (* and ?) over the entries' ids
  std::vector<std::string> names;  // globs over their names
  VersionForm form = VersionForm::kExact;
  std::string prefix;
};

// What a machine of this kind shows of itself when it is enrolled. Empty and 0: not asked.
struct MachineRule {
  std::vector<std::string> manufacturers;  // globs over DMI's words
  std::vector<std::string> products;
  int64_t disks = 0;  // how many, exactly
  std::optional<int64_t> gpus;
};

enum class ProfileBootTarget { kPxe, kUefiHttp };

struct Vetting {
  std::string by;
  std::string why;
};

struct HardwareProfile {
  std::string name;
  int64_t revision = 0;
  std::string driver = "redfish";
  std::map<std::string, ComponentRule> components;
  MachineRule machine;
  // Accounts of its BMCs that may stay enabled beside ours, by their exact names: whoever lists one
  // says that no tenant can have its password. Every other one is closed when a machine changes
  // hands.
  std::vector<std::string> bmc_accounts;
  ProfileBootTarget boot_target = ProfileBootTarget::kPxe;
  int64_t power_off_s = 300;
  int64_t power_on_s = 300;
  int64_t off_reread_ms = 2'000;  // between the readings that make an Off (quirks R4, W8, W12)
  int64_t rotation_s = 300;       // how long a BMC may take to know a new password (quirk A11)
  int64_t call_home_s = 900;
  int64_t ramdisk_silent_s = 60;  // a ramdisk that has said nothing for so long is lost
  std::optional<Vetting> vetted;  // none: its machines are not leased with root (D3)

  // INVALID_INPUT with the field, dotted ("components.bmc.ids").
  static Result<HardwareProfile> parse(const Json& row);
};

// Whole-text match; * stands for any run of characters, ? for one.
bool glob_matches(std::string_view glob, std::string_view text);

}  // namespace leasehold
