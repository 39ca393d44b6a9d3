// ManagerAccounts: listing them, changing one's password (quirks A1 to A3, A12), closing one.
// Functions on a step's thread; they block. Whether a password was changed is not known from an
// answer, only from trying it; nothing here tries the old one afterwards.
#pragma once

#include "drivers/bmc.h"
#include "drivers/redfish/client.h"

namespace leasehold::redfish {

struct AccountList {
  std::vector<BmcAccount> accounts;  // without empty slots (A4): no name, and not said enabled
  bool complete = true;
  std::string why;
};

Result<AccountList> list_accounts(Client& client, ServiceRoot& root);

// Errors before the PATCH was sent are UNAVAILABLE, INVALID_INPUT, CREDENTIAL_REFUSED, NOT_FOUND,
// CONFLICT (two accounts of that name) or the BMC's refusal to list; REFUSED, TIMEOUT, MALFORMED
// and UNAUTHENTICATED may come after it.
Status patch_password(Client& client, ServiceRoot& root, const std::string& user,
                      const std::string& password);

// DELETE, and if the account is still open PATCH Enabled false (A4): each once, read back after
// each.
Status close_account(Client& client, const BmcAccount& account);

// Deletes every session but our own, then looks whether they are gone (A8).
Status delete_other_sessions(Client& client, ServiceRoot& root);

}  // namespace leasehold::redfish
