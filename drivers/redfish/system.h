// The one ComputerSystem of a generic BMC: finds it by links and reads it. Owned by one RedfishBmc,
// used on its step's thread, blocks. Remembers the path only: its state is read anew each time.
#pragma once

#include "drivers/redfish/client.h"

namespace leasehold::redfish {

class System {
 public:
  System(Client& client, ServiceRoot& root) : client_(client), root_(root) {}

  // The first member of Systems. UNSUPPORTED if there is none.
  Result<std::string> path();
  Result<Reply> read();

 private:
  Client& client_;
  ServiceRoot& root_;
  std::string path_;
};

}  // namespace leasehold::redfish
