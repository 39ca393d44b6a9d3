#include "simsite/redfish/resource.h"

#include <algorithm>
#include <cstdlib>

namespace leasehold::simsite {
namespace {

constexpr const char* kService = "/redfish/v1/AccountService";
constexpr const char* kAccounts = "/redfish/v1/AccountService/Accounts";
constexpr const char* kRoles = "/redfish/v1/AccountService/Roles";
constexpr size_t kMinPasswordLength = 8;
constexpr size_t kMaxPasswordLength = 20;

RedfishReply get_service(const Call& call) {
  return reply_json(200, {{"@odata.id", kService},
                          {"@odata.type", "#AccountService.v1_13_0.AccountService"},
                          {"Id", "AccountService"},
                          {"Name", "Account Service"},
                          {"ServiceEnabled", true},
                          {"Status", status_ok()},
                          {"MinPasswordLength", kMinPasswordLength},
                          {"MaxPasswordLength", kMaxPasswordLength},
                          {"AccountLockoutThreshold", call.context.lockout ? 5 : 0},
                          {"Accounts", link(kAccounts)},
                          {"Roles", link(kRoles)}});
}

RedfishReply get_accounts(const Call& call) {
  std::vector<std::string> ids;
  for (const Account& account : call.state.accounts) ids.push_back(account.id);
  return reply_json(200, collection(kAccounts, "ManagerAccount", "Accounts Collection", ids));
}

const Account* find_account(const Call& call) {
  for (const Account& account : call.state.accounts) {
    if (account.id == call.captures[0]) return &account;
  }
  return nullptr;
}

RedfishReply get_account(const Call& call) {
  const Account* account = find_account(call);
  std::string path = child_path(kAccounts, call.captures[0]);
  if (account == nullptr) return not_found(path);
  bool locked = call.context.lockout && account->locked_until_ms > call.context.monotonic_ms;
  return reply_json(200, {{"@odata.id", path},
                          {"@odata.type", "#ManagerAccount.v1_9_0.ManagerAccount"},
                          {"Id", account->id},
                          {"Name", "User Account"},
                          {"UserName", account->user_name},
                          {"Password", nullptr},
                          {"RoleId", account->role_id},
                          {"Enabled", account->enabled},
                          {"Locked", locked},
                          {"PasswordChangeRequired", account->change_required},
                          {"AccountTypes", {"Redfish"}},
                          {"Links", {{"Role", link(child_path(kRoles, account->role_id))}}}});
}

// The password is never echoed, not even in the error.
RedfishReply password_refused() {
  return reply_error(400, {"PropertyValueFormatError",
                           "The value for the property 'Password' is of a different format than "
                           "the property can accept: 8 to 20 characters.",
                           {"", "Password"},
                           "Password"});
}

RedfishReply patch_account(const Call& call) {
  const Account* account = find_account(call);
  if (account == nullptr) return not_found(child_path(kAccounts, call.captures[0]));
  SetAccount change{account->id, "", account->enabled};
  for (const auto& [key, value] : call.body.items()) {
    if (key == "Password") {
      if (!value.is_string()) return property_type(key);
      change.password = value.get<std::string>();
      if (change.password.size() < kMinPasswordLength ||
          change.password.size() > kMaxPasswordLength) {
        return password_refused();
      }
    } else if (key == "Enabled") {
      if (!value.is_boolean()) return property_type(key);
      change.enabled = value.get<bool>();
    } else if (key == "UserName" || key == "RoleId" || key == "Id" || key == "Name") {
      return property_not_writable(key);
    } else {
      return property_unknown(key);
    }
  }
  return reply_empty(change);
}

// Another account, as a tenant with the password of one may make.
RedfishReply create_account(const Call& call) {
  Account account;
  for (const char* key : {"UserName", "Password", "RoleId"}) {
    if (!call.body.contains(key)) return property_missing(key);
    if (!call.body[key].is_string()) return property_type(key);
  }
  account.user_name = call.body["UserName"].get<std::string>();
  account.password = call.body["Password"].get<std::string>();
  account.role_id = call.body["RoleId"].get<std::string>();
  if (account.user_name.empty() || call.state.find_account(account.user_name) != nullptr) {
    return value_not_in_list("UserName", account.user_name);
  }
  if (account.password.size() < kMinPasswordLength ||
      account.password.size() > kMaxPasswordLength) {
    return password_refused();
  }
  int64_t highest = 0;
  for (const Account& other : call.state.accounts) {
    highest = std::max<int64_t>(highest, std::atoll(other.id.c_str()));
  }
  account.id = std::to_string(highest + 1);
  std::string path = child_path(kAccounts, account.id);
  RedfishReply reply = reply_json(201, {{"@odata.id", path}, {"Id", account.id}});
  reply.response.headers.emplace_back("Location", path);
  reply.change = CreateAccount{account};
  return reply;
}

// The one who asks is not deleted: nobody would be left to ask.
RedfishReply delete_account(const Call& call) {
  const Account* account = find_account(call);
  if (account == nullptr) return not_found(child_path(kAccounts, call.captures[0]));
  if (account->user_name.empty() || account->user_name == call.user) {
    return reply_error(400, {"ResourceCannotBeDeleted",
                             "The delete request failed because the resource requested cannot be "
                             "deleted.",
                             {},
                             ""});
  }
  return reply_empty(DeleteAccount{account->id});
}

RedfishReply get_roles(const Call&) {
  return reply_json(200,
                    collection(kRoles, "Role", "Roles Collection", {"Administrator", "ReadOnly"}));
}

RedfishReply get_role(const Call& call) {
  const std::string& id = call.captures[0];
  std::string path = child_path(kRoles, id);
  if (id != "Administrator" && id != "ReadOnly") return not_found(path);
  Json privileges = {"Login", "ConfigureSelf"};
  if (id == "Administrator") {
    privileges = {"Login", "ConfigureManager", "ConfigureUsers", "ConfigureSelf",
                  "ConfigureComponents"};
  }
  return reply_json(200, {{"@odata.id", path},
                          {"@odata.type", "#Role.v1_3_1.Role"},
                          {"Id", id},
                          {"Name", "User Role"},
                          {"RoleId", id},
                          {"IsPredefined", true},
                          {"AssignedPrivileges", privileges}});
}

}  // namespace

std::vector<Route> account_routes() {
  Route account{.pattern = std::string(kAccounts) + "/*", .get = get_account};
  account.patch = patch_account;
  account.del = delete_account;
  Route accounts{.pattern = kAccounts, .get = get_accounts, .post = create_account};
  return {{.pattern = kService, .get = get_service},
          accounts,
          account,
          {.pattern = kRoles, .get = get_roles},
          {.pattern = std::string(kRoles) + "/*", .get = get_role}};
}

}  // namespace leasehold::simsite
