// The BMC's entry: reads /redfish/v1/ once, without credentials, and says where things are. Links
// win; a root that lacks one (quirk P11) falls back to the path that the standard names. Owned by
// one RedfishBmc, used on its step's thread, blocks. Never sends a credential.
#pragma once

#include <optional>

#include "drivers/redfish/transport.h"

namespace leasehold::redfish {

class ServiceRoot {
 public:
  explicit ServiceRoot(Transport& transport) : transport_(transport) {}

  // The document itself; an empty object where it is closed to strangers.
  Result<Json> document();
  Result<std::string> sessions();  // Links.Sessions (T3: not always under SessionService)
  Result<std::string> systems();
  Result<std::string> account_service();
  Result<std::string> update_service();

 private:
  Status read();
  Result<std::string> link(const char* name, const char* otherwise);

  Transport& transport_;
  std::optional<Json> root_;
};

}  // namespace leasehold::redfish
