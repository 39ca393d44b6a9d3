#include "core/tls/tls.h"
#include "drivers/redfish/redfish_bmc.h"

namespace leasehold {

std::unique_ptr<Bmc> RedfishBmcFactory::open(const BmcAddress& address,
                                             const BmcCredential& credential) {
  TlsClientPolicy tls;
  tls.judge = pin_judge(address.tls_pin);
  tls.host_check = HostCheck::kByPin;
  tls.connection_key = address.tls_pin;
  return std::make_unique<RedfishBmc>(client_, clock_, address, credential, std::move(tls));
}

}  // namespace leasehold
