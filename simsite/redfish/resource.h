// What every Redfish resource of a simulated BMC is made of: a call, a reply, the error bodies of
// DSP0266 clause 8.6 and the table of routes. Handlers are pure: they read the state and return
// what to answer and what to change. Values only, any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/http/message.h"
#include "simsite/bmc_state.h"

namespace leasehold::simsite {

// What the handlers may use but not make up: it comes from outside, so that they stay pure.
struct CallContext {
  int64_t monotonic_ms = 0;
  std::string fresh_token;  // for a session that may be created
  bool lockout = false;     // fault: accounts lock after failed logins
};

struct RedfishRequest {
  std::string method;
  std::string path;
  HttpHeaders headers;
  std::string body;
};

struct LoginAttempt {
  std::string account_id;
  bool succeeded = false;
};

struct RedfishReply {
  HttpResponse response;
  Change change;
  std::optional<LoginAttempt> login;  // a password was checked against this account
};

struct Call {
  const BmcState& state;
  const CallContext& context;
  std::vector<std::string> captures;  // what each '*' of the route's pattern stands for
  Json body;                          // an object for POST and PATCH, else null
  std::string user;                   // who is authenticated; empty: nobody
  std::string session;                // by which session; empty: none
};

using Handler = RedfishReply (*)(const Call&);

struct Route {
  std::string pattern;  // "/redfish/v1/Systems/*": '*' is one segment
  Handler get = nullptr;
  Handler post = nullptr;
  Handler patch = nullptr;
  Handler del = nullptr;
  bool open_get = false;  // needs no authentication (DSP0266 clause 13.3.1)
  bool open_post = false;
};

std::vector<Route> service_root_routes();
std::vector<Route> session_routes();
std::vector<Route> account_routes();
std::vector<Route> system_routes();
std::vector<Route> manager_routes();
std::vector<Route> chassis_routes();
std::vector<Route> update_routes();

// The whole service: authentication, routing, preconditions, the handler, headers.
RedfishReply redfish_answer(const BmcState& state, const CallContext& context,
                            const RedfishRequest& request);

// A password login. `login` in the reply says what to count; null account: unknown user.
struct PasswordCheck {
  const Account* account = nullptr;
  bool ok = false;
};
PasswordCheck check_password(const BmcState& state, const CallContext& context,
                             const std::string& user, const std::string& password);

// Bodies.
RedfishReply reply_json(int status, const Json& body);
RedfishReply reply_empty(Change change);  // 204
std::string child_path(const std::string& path, const std::string& id);
// The members that every resource begins with; `type` as "Session.v1_5_0.Session".
Json resource(const std::string& path, const std::string& type, const std::string& id,
              const std::string& name);
Json link(const std::string& path);
Json status_ok();
// A collection of DSP0268: Members and their count.
Json collection(const std::string& path, const std::string& type, const std::string& name,
                const std::vector<std::string>& ids);

// Errors: one message of the Base registry. `property` is the related property, or "".
struct Message {
  std::string id;  // "PropertyUnknown"
  std::string text;
  std::vector<std::string> args;
  std::string property;
};
RedfishReply reply_error(int status, const Message& message);
RedfishReply not_found(const std::string& path);
// A1: the account must change its password first; the message names the account.
Json change_required_info(const std::string& account_id);
RedfishReply change_required(const std::string& account_id);
RedfishReply property_missing(const std::string& property);
RedfishReply property_unknown(const std::string& property);
RedfishReply property_not_writable(const std::string& property);
RedfishReply property_type(const std::string& property);
RedfishReply value_not_in_list(const std::string& property, const std::string& value);

}  // namespace leasehold::simsite
