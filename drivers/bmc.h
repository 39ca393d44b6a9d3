// What the agent needs of a BMC, in Redfish's words, whatever protocol stands behind it. One object
// per BMC and operation; every call blocks its thread and has a deadline. Nothing here retries a
// call that has an effect; success is what a later read shows, never a status code.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace leasehold {

enum class PowerState {
  kOff,
  kOn,
  kPoweringOn,
  kPoweringOff,
  kUnknown
};                                        // ComputerSystem.PowerState
enum class ResetType { kOn, kForceOff };  // ComputerSystem.Reset
enum class BootSourceOverrideTarget { kNone, kPxe, kUefiHttp, kHdd, kCd };
enum class BootSourceOverrideEnabled { kDisabled, kOnce, kContinuous };

std::string_view power_state_name(PowerState state);  // "Off", "On", ...
std::string_view boot_target_name(BootSourceOverrideTarget target);

struct BmcCredential {
  std::string user;
  std::string password;
};

struct BmcAddress {
  std::string url;      // "https://10.0.0.7" or "https://127.0.0.1:8443"
  std::string tls_pin;  // SHA-256 of the BMC's leaf certificate, hex
};

struct BootOverride {
  BootSourceOverrideTarget target = BootSourceOverrideTarget::kNone;
  BootSourceOverrideEnabled enabled = BootSourceOverrideEnabled::kDisabled;
};

struct BmcAccount {
  std::string id;  // the member's id, not the user name (quirk A3)
  std::string uri;
  std::string user_name;
  std::string role_id;
  bool enabled = false;
};

struct FirmwareItem {  // SoftwareInventory
  std::string id;
  std::string name;
  std::string version;  // raw; empty if the BMC does not say
  bool enabled = true;  // Status.State is absent or Enabled
};

struct FirmwareInventory {
  std::vector<FirmwareItem> items;
  bool complete = true;  // false: the collection carried an error or lacked announced members
};

// What whoever answers at a BMC's address says of itself without a credential (ServiceRoot).
struct BmcGreeting {
  std::string redfish_version;
  std::string vendor;
  std::string product;
  std::string tls_pin;  // of the certificate that was presented
};

struct EthernetPort {    // EthernetInterface of the host
  std::string mac;       // six pairs of lower-case hex digits with colons
  bool link_up = false;  // LinkStatus is LinkUp
};

// The ComputerSystem as the BMC has it: claims, compared later with what the machine itself shows.
struct SystemFacts {
  std::string manufacturer;
  std::string model;
  std::string serial;
  std::string sku;   // where some vendors keep the machine's serial (quirk P13)
  std::string uuid;  // may be empty or change (quirk P14)
  std::vector<EthernetPort> ports;
};

class Bmc {
 public:
  virtual ~Bmc() = default;
  // One fresh read. BMCs show stale and passing states: ask twice before acting on Off (W8, W12).
  virtual Result<PowerState> power_state() = 0;
  // Ok: accepted, or the state is reached already; only power_state() shows that it happened (W3).
  virtual Status reset(ResetType type) = 0;
  // The override in force; UNSUPPORTED if it is one that no BootOverride can say.
  virtual Result<BootOverride> boot_override() = 0;
  // Ok: it was read back. A BMC may take it as pending, so that boot_override() does not show it
  // before the next reset (B1).
  virtual Status set_boot_override(const BootOverride& wanted) = 0;
  // UNAVAILABLE unless the list is whole.
  virtual Result<std::vector<BmcAccount>> accounts() = 0;
  // Deletes the account, or disables it where the BMC has fixed slots (quirk A4); each is sent
  // once. Ok: it was read back as gone or disabled. Never the account that this object logs in
  // with: INVALID_INPUT. UNAVAILABLE: nothing was sent.
  virtual Status close_account(const BmcAccount& account) = 0;
  // PATCHes the password of the account named `user`. Any error but UNAVAILABLE and
  // INVALID_INPUT may mean that it was changed: find out by trying (quirk A12).
  virtual Status set_password(const std::string& user, const std::string& password) = 0;
  // Does this credential open the BMC? True or false only when the BMC clearly said so.
  virtual Result<bool> credential_works(const BmcCredential& credential) = 0;
  // Deletes every session but our own (quirk A8).
  virtual Status delete_other_sessions() = 0;
  virtual Result<FirmwareInventory> firmware_inventory() = 0;
  // REFUSED as long as the password must be changed first (quirk A1).
  virtual Result<SystemFacts> system_facts() = 0;
};

// Makes drivers for a node's BMC. The agent's tools hold one.
class BmcFactory {
 public:
  virtual ~BmcFactory() = default;
  virtual std::unique_ptr<Bmc> open(const BmcAddress& address, const BmcCredential& credential) = 0;
  // Who answers there? No credential is sent. Without a pin any certificate is taken and named in
  // the answer; with one, only that (REFUSED). UNAVAILABLE, TIMEOUT, MALFORMED: try again.
  virtual Result<BmcGreeting> greet(const BmcAddress& address) = 0;
};

}  // namespace leasehold
