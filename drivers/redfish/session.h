// One Redfish session: logs in when first needed, deletes itself in the destructor, whatever
// happened (quirk T6). Owned by one RedfishBmc, used on its step's thread, blocks. Sends a password
// only to the BMC's own session collection, and a refused one never again.
#pragma once

#include <string>

#include "drivers/bmc.h"
#include "drivers/redfish/service_root.h"

namespace leasehold::redfish {

class Session {
 public:
  Session(Transport& transport, ServiceRoot& root, BmcCredential credential);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Logs in unless there is a token. CREDENTIAL_REFUSED if the BMC refused the password, now or
  // before: it is not sent a second time.
  Status ensure();
  const std::string& token() const { return token_; }
  const std::string& uri() const { return uri_; }  // "" if the BMC never said which is ours
  const std::string& user() const { return credential_.user; }

  // The BMC no longer knows the token (T5).
  void drop_token();
  // The password may just have been changed: this session lasts as long as its token, and the old
  // password is not tried again (A9).
  void never_log_in_again() { closed_ = true; }
  // A1: the account that must change its password before anything else works, as the login said.
  const std::string& gated_account() const { return gated_account_; }

 private:
  Result<Reply> post();
  Status take(const Reply& reply);
  Status make_room();
  void find_own_uri();

  Transport& transport_;
  ServiceRoot& root_;
  BmcCredential credential_;
  std::string token_;
  std::string uri_;
  std::string gated_account_;
  bool refused_ = false;
  bool closed_ = false;
};

// The login request: credentials in the body only, since a strict BMC refuses one that also has an
// Authorization header (T4).
Call login_call(const std::string& sessions, const BmcCredential& credential);
// Of the answer to a login: where its session is (T1, T2), or "".
std::string session_uri(const Reply& reply);
// Deletes a session with its own token, waiting a short while only; nothing can be done on failure.
void log_out(Transport& transport, const std::string& uri, const std::string& token);
// A table that is full says nothing about the password (T6).
bool is_session_limit(const Reply& reply);
// The password is right, but must be changed first (A1, A2).
const Message* password_change_required(const Reply& reply);
// The account that such a message names (its first argument), or "".
std::string gated_account_of(const Message& message);

// Does this credential log in? One try, and the session is deleted at once.
Result<bool> try_login(Transport& transport, ServiceRoot& root, const BmcCredential& credential);

}  // namespace leasehold::redfish
