// What a simulated BMC knows and what may change in it, as values. Redfish handlers read a BmcState
// and return a Change; only the machine applies it, so that a fault can apply without answering or
// answer without applying.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace leasehold::simsite {

enum class Power { kOff, kPoweringOn, kOn, kPoweringOff };
constexpr std::string_view power_name(Power power) {  // ComputerSystem.PowerState
  constexpr std::string_view kNames[] = {"Off", "PoweringOn", "On", "PoweringOff"};
  return kNames[static_cast<int>(power)];
}

struct Account {
  std::string id;  // the member's id, never the user name (quirk A3)
  std::string user_name;
  std::string password;
  std::string role_id = "Administrator";
  bool enabled = true;
  bool change_required = false;  // the factory's password: nothing else before it is changed (A1)
  int64_t failures = 0;          // failed logins in a row
  int64_t locked_until_ms = 0;   // monotonic
};

struct Session {
  std::string id;
  std::string token;
  std::string user_name;
};

struct BootOverride {
  std::string target = "None";       // BootSourceOverrideTarget
  std::string enabled = "Disabled";  // BootSourceOverrideEnabled
  std::string mode = "UEFI";         // BootSourceOverrideMode
  bool operator==(const BootOverride&) const = default;
};

struct BmcState {
  std::string machine;
  std::string serial;
  std::string board_serial;  // DMI's; a BMC does not say it
  std::string uuid;
  std::string mac;
  Power power = Power::kOff;
  BootOverride boot;
  std::vector<Account> accounts;
  std::vector<Session> sessions;
  int64_t sessions_made = 0;
  std::map<std::string, std::string> firmware;  // SoftwareInventory id -> version

  const Account* find_account(std::string_view user_name) const;
  Account* account_by_id(std::string_view id);
};

// What a request changes.
struct SetAccount {
  std::string account_id;
  std::string password;  // empty: as it was
  bool enabled = true;
};
struct CreateAccount {
  Account account;
};
struct DeleteAccount {
  std::string account_id;
};
struct SetBoot {
  BootOverride boot;
};
struct Reset {
  std::string type;  // ResetType
};
struct CreateSession {
  Session session;
};
struct DeleteSession {
  std::string id;
  bool own = false;  // of whoever deletes it
};
using Change = std::variant<std::monostate, SetAccount, CreateAccount, DeleteAccount, SetBoot,
                            Reset, CreateSession, DeleteSession>;

// Sessions belong to whoever talks and are no effect on the world, except another's that is ended.
bool is_effect(const Change& change);
// For the effect's description: never the password itself.
std::string describe(const Change& change);

}  // namespace leasehold::simsite
