#include "core/tls/crypto.h"
#include "core/tls/tls.h"
#include "drivers/redfish/redfish_bmc.h"

namespace leasehold {
namespace {

// Trust on first use: whatever is presented is taken and written down. Shared with the judge
// because a handshake may outlive the call that timed out.
TlsClientPolicy first_use(std::shared_ptr<std::string> presented) {
  TlsClientPolicy tls;
  tls.host_check = HostCheck::kByPin;
  tls.judge = [presented](const std::vector<std::string>& chain_der) -> Status {
    if (chain_der.empty()) return Error(Code::kRefused, "the server has no certificate");
    *presented = sha256_hex(chain_der.front());
    return {};
  };
  return tls;
}

}  // namespace

std::unique_ptr<Bmc> RedfishBmcFactory::open(const BmcAddress& address,
                                             const BmcCredential& credential) {
  TlsClientPolicy tls;
  tls.judge = pin_judge(address.tls_pin);
  tls.host_check = HostCheck::kByPin;
  tls.connection_key = address.tls_pin;
  return std::make_unique<RedfishBmc>(client_, clock_, address, credential, std::move(tls));
}

Result<BmcGreeting> RedfishBmcFactory::greet(const BmcAddress& address) {
  auto presented = std::make_shared<std::string>(address.tls_pin);
  TlsClientPolicy tls = first_use(presented);
  if (!address.tls_pin.empty()) tls.judge = pin_judge(address.tls_pin);
  redfish::Transport transport(client_, clock_, address.url, std::move(tls));
  redfish::ServiceRoot root(transport);
  Json document = TRY(root.document());
  BmcGreeting greeting;
  greeting.redfish_version = json_text(document, "RedfishVersion");
  greeting.vendor = json_text(document, "Vendor");
  greeting.product = json_text(document, "Product");
  greeting.tls_pin = *presented;
  return greeting;
}

}  // namespace leasehold
