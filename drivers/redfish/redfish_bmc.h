// The Bmc over generic Redfish (DSP0266, DSP0268): one object per BMC and operation, made by the
// factory, used on one step's thread; every call blocks and has a deadline. Opens a session when it
// is first needed and deletes it when the object goes. Holds no connection and remembers no state.
#pragma once

#include "core/base/clock.h"
#include "core/http/message.h"
#include "drivers/bmc.h"
#include "drivers/redfish/client.h"
#include "drivers/redfish/service_root.h"
#include "drivers/redfish/session.h"
#include "drivers/redfish/system.h"
#include "drivers/redfish/transport.h"

namespace leasehold {

class RedfishBmc : public Bmc {
 public:
  // `tls` judges the BMC's certificate: the pin of its address.
  RedfishBmc(HttpClient& client, Clock& clock, const BmcAddress& address,
             const BmcCredential& credential, TlsClientPolicy tls);
  RedfishBmc(const RedfishBmc&) = delete;
  RedfishBmc& operator=(const RedfishBmc&) = delete;

  Result<PowerState> power_state() override;
  Status reset(ResetType type) override;
  Result<BootOverride> boot_override() override;
  Status set_boot_override(const BootOverride& wanted) override;
  Result<std::vector<BmcAccount>> accounts() override;
  Status close_account(const BmcAccount& account) override;
  // Afterwards this object does not log in again: what password it would need is not known.
  Status set_password(const std::string& user, const std::string& password) override;
  Result<bool> credential_works(const BmcCredential& credential) override;
  Status delete_other_sessions() override;
  Result<FirmwareInventory> firmware_inventory() override;
  Result<SystemFacts> system_facts() override;

 private:
  redfish::Transport transport_;
  redfish::ServiceRoot root_;
  redfish::Session session_;
  redfish::Client client_;
  redfish::System system_;
};

class RedfishBmcFactory : public BmcFactory {
 public:
  RedfishBmcFactory(HttpClient& client, Clock& clock) : client_(client), clock_(clock) {}
  std::unique_ptr<Bmc> open(const BmcAddress& address, const BmcCredential& credential) override;
  Result<BmcGreeting> greet(const BmcAddress& address) override;

 private:
  HttpClient& client_;
  Clock& clock_;
};

}  // namespace leasehold
