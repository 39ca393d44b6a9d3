#include "drivers/redfish/redfish_bmc.h"

#include "drivers/redfish/accounts.h"
#include "drivers/redfish/boot.h"
#include "drivers/redfish/firmware_inventory.h"
#include "drivers/redfish/power.h"
#include "drivers/redfish/system_facts.h"

namespace leasehold {

RedfishBmc::RedfishBmc(HttpClient& client, Clock& clock, const BmcAddress& address,
                       const BmcCredential& credential, TlsClientPolicy tls)
    : transport_(client, clock, address.url, std::move(tls)),
      root_(transport_),
      session_(transport_, root_, credential),
      client_(transport_, session_),
      system_(client_, root_) {}

Result<PowerState> RedfishBmc::power_state() { return redfish::read_power(system_); }

Status RedfishBmc::reset(ResetType type) { return redfish::reset_system(client_, system_, type); }

Result<BootOverride> RedfishBmc::boot_override() { return redfish::read_boot_override(system_); }

Status RedfishBmc::set_boot_override(const BootOverride& wanted) {
  return redfish::write_boot_override(client_, system_, wanted);
}

Result<std::vector<BmcAccount>> RedfishBmc::accounts() {
  redfish::AccountList list = TRY(redfish::list_accounts(client_, root_));
  if (!list.complete) return Error(Code::kUnavailable, "Accounts: " + list.why);
  return std::move(list.accounts);
}

Status RedfishBmc::close_account(const BmcAccount& account) {
  return redfish::close_account(client_, account);
}

Status RedfishBmc::set_password(const std::string& user, const std::string& password) {
  return redfish::patch_password(client_, root_, user, password);
}

Result<bool> RedfishBmc::credential_works(const BmcCredential& credential) {
  return redfish::try_login(transport_, root_, credential);
}

Status RedfishBmc::delete_other_sessions() {
  return redfish::delete_other_sessions(client_, root_);
}

Result<FirmwareInventory> RedfishBmc::firmware_inventory() {
  return redfish::read_firmware_inventory(client_, root_);
}

Result<SystemFacts> RedfishBmc::system_facts() {
  return redfish::read_system_facts(client_, system_);
}

}  // namespace leasehold
