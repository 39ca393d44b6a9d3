#include "core/tls/crypto.h"
#include "core/tls/tls.h"
#include "drivers/redfish/redfish_bmc.h"

namespace leasehold {
namespace {

// Takes the certificate with this pin, or without one whatever is presented (trust on first use),
// and writes down what that was. Shared with the judge because a handshake may outlive the call
// that timed out.
TlsClientPolicy noting(const std::string& pin, std::shared_ptr<std::string> presented) {
  TlsClientPolicy tls;
  tls.host_check = HostCheck::kByPin;
  tls.judge = [pin, presented](const std::vector<std::string>& chain_der) -> Status {
    if (chain_der.empty()) return Error(Code::kRefused, "the server has no certificate");
    *presented = sha256_hex(chain_der.front());
    if (pin.empty() || pin == *presented) return {};
    return Error(Code::kRefused, "the server's certificate is not the pinned one");
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
  auto presented = std::make_shared<std::string>();
  redfish::Transport transport(client_, clock_, address.url, noting(address.tls_pin, presented));
  redfish::ServiceRoot root(transport);
  Result<Json> read = root.document();
  if (!read.ok() && !address.tls_pin.empty() && !presented->empty() &&
      *presented != address.tls_pin) {
    return Error(Code::kRefused,
                 "it presents the certificate " + *presented + ", which is not the pinned one");
  }
  Json document = TRY(std::move(read));
  BmcGreeting greeting;
  greeting.redfish_version = json_text(document, "RedfishVersion");
  greeting.vendor = json_text(document, "Vendor");
  greeting.product = json_text(document, "Product");
  greeting.tls_pin = presented->empty() ? address.tls_pin : *presented;
  return greeting;
}

}  // namespace leasehold
