#include "drivers/redfish/accounts.h"

#include <algorithm>

#include "core/base/log.h"

namespace leasehold::redfish {
namespace {

std::string last_segment(const std::string& path) {
  std::string trimmed = path;
  while (trimmed.ends_with('/')) trimmed.pop_back();
  return trimmed.substr(trimmed.rfind('/') + 1);
}

Result<std::string> accounts_path(Client& client, ServiceRoot& root) {
  std::string service = TRY(root.account_service());
  Reply reply = TRY(client.get(service));
  std::string path = link_of(json_member(reply.body, "Accounts"));
  return path.empty() ? service + "/Accounts" : path;
}

BmcAccount parse_account(const Json& body, const std::string& uri) {
  BmcAccount account;
  account.uri = uri;
  account.id = json_text(body, "Id");
  if (account.id.empty()) account.id = last_segment(uri);
  account.user_name = json_text(body, "UserName");
  account.role_id = json_text(body, "RoleId");
  // Absent means enabled, so that an audit overlooks nothing.
  const Json& enabled = json_member(body, "Enabled");
  account.enabled = !enabled.is_boolean() || enabled.get<bool>();
  return account;
}

// A4: a slot without a user. One that is said to be enabled all the same lets somebody in.
bool is_empty_slot(const Json& body) {
  return json_text(body, "UserName").empty() && json_member(body, "Enabled") != Json(true);
}

// A1: behind the gate only the account itself can be reached, and the BMC says where it is.
std::string gated_account(Client& client, ServiceRoot& root, const std::string& user) {
  if (user != client.session().user()) return "";
  if (!client.session().gated_account().empty()) return client.session().gated_account();
  auto service = root.account_service();
  if (!service.ok()) return "";
  auto probe = client.get_any(service.value());
  if (!probe.ok()) return "";
  const Message* gate = password_change_required(probe.value());
  return gate == nullptr ? "" : gated_account_of(*gate);
}

Result<std::string> account_uri(Client& client, ServiceRoot& root, const std::string& user) {
  auto list = list_accounts(client, root);
  if (!list.ok()) {
    if (list.error().code == Code::kRefused) {
      std::string gated = gated_account(client, root, user);
      if (!gated.empty()) return gated;
    }
    return std::move(list).error();
  }
  std::string uri;
  for (const BmcAccount& account : list.value().accounts) {
    if (account.user_name != user) continue;
    if (!uri.empty()) return Error(Code::kConflict, "the BMC lists two accounts named " + user);
    uri = account.uri;
  }
  if (!uri.empty()) return uri;
  if (!list.value().complete) return Error(Code::kUnavailable, "Accounts: " + list.value().why);
  return Error(Code::kNotFound, "the BMC lists no account named " + user);
}

// Does the account still let somebody in? Looked at as often as a change may take to show.
Result<bool> still_open(Client& client, const std::string& uri, int tries) {
  for (int tried = 1;; ++tried) {
    Reply now = TRY(client.get_any(uri));
    if (now.status == 404 || now.status == 410) return false;
    Call call;
    call.path = uri;
    if (!now.good()) return client.transport().error(call, now);
    if (!now.body.is_object()) return Error(Code::kMalformed, "GET " + uri + ": not an object");
    if (is_empty_slot(now.body) || !parse_account(now.body, uri).enabled) return false;
    if (tried >= tries) return true;
    client.transport().clock().sleep_ms(limits::kBmcReadBackMs);
  }
}

// After a call that closes it, whatever it answered: only what is read back counts.
Result<bool> closed_after(Client& client, const Result<Reply>& reply, const std::string& uri) {
  if (!reply.ok() && reply.error().code == Code::kUnavailable) return reply.error();
  bool refused = reply.ok() && !reply.value().good() && reply.value().status < 500;
  bool open = TRY(still_open(client, uri, refused ? 1 : limits::kBmcReadBackTries));
  return !open;
}

// What can still be said with certainty before the PATCH: nothing was changed.
Error before_sending(Error error) {
  bool unknown = error.code == Code::kTimeout || error.code == Code::kMalformed ||
                 error.code == Code::kUnauthenticated || error.code == Code::kTooLarge;
  if (unknown) error.code = Code::kUnavailable;
  return std::move(error).with("before the password was sent");
}

}  // namespace

Result<AccountList> list_accounts(Client& client, ServiceRoot& root) {
  std::string path = TRY(accounts_path(client, root));
  Collection members = TRY(read_collection(client.getter(), path));
  AccountList list;
  list.complete = members.complete;
  list.why = members.why;
  for (const Json& member : members.members) {
    auto reply = read_member(client.getter(), member);
    if (!reply.ok()) {
      if (list.complete) list.why = reply.error().message;
      list.complete = false;
      continue;
    }
    if (is_empty_slot(reply.value().body)) continue;
    list.accounts.push_back(parse_account(reply.value().body, link_of(member)));
  }
  return list;
}

Status patch_password(Client& client, ServiceRoot& root, const std::string& user,
                      const std::string& password) {
  if (user.empty() || password.empty()) {
    return Error(Code::kInvalidInput, "a user and a password are needed");
  }
  log_scrub(password);
  client.transport().keep_secret(password);
  auto uri = account_uri(client, root, user);
  if (!uri.ok()) return before_sending(std::move(uri).error());
  // Its tag, if it can be read: behind the gate (A1, A16) it may not.
  auto current = client.get_any(uri.value());
  if (!current.ok()) return before_sending(std::move(current).error());
  if (!current.value().good()) current.value() = Reply{};

  bool own = user == client.session().user();
  auto reply = client.patch(uri.value(), Json{{"Password", password}}, current.value());
  if (own) client.session().never_log_in_again();
  if (!reply.ok()) return std::move(reply).error();
  if (reply.value().good() && first_failure(reply.value().messages) == nullptr) return {};
  Call call;
  call.method = "PATCH";
  call.path = uri.value();
  Error error = client.transport().error(call, reply.value());
  if (reply.value().good()) error.code = Code::kRefused;
  if (error.code == Code::kUnavailable) error.code = Code::kTimeout;
  return error;
}

Status close_account(Client& client, const BmcAccount& account) {
  if (account.uri.empty()) {
    return Error(Code::kUnsupported, "the BMC does not say where account " + account.id + " is");
  }
  if (account.user_name == client.session().user()) {
    return Error(Code::kInvalidInput, "the account that is logged in is not closed");
  }
  auto removed = client.remove(account.uri);
  bool closed = TRY(closed_after(client, removed, account.uri));
  if (closed) return {};
  Reply current = TRY(client.get_any(account.uri));
  auto disabled = client.patch(account.uri, Json{{"Enabled", false}}, current);
  closed = TRY(closed_after(client, disabled, account.uri));
  if (closed) return {};
  if (!disabled.ok()) return disabled.error();
  Call call;
  call.method = "PATCH";
  call.path = account.uri;
  Error error = client.transport().error(call, disabled.value());
  if (disabled.value().good()) error.code = Code::kRefused;
  return std::move(error).with("account " + account.user_name + " stays enabled");
}

Status delete_other_sessions(Client& client, ServiceRoot& root) {
  std::string path = TRY(root.sessions());
  TRY(client.session().ensure());
  Collection sessions = TRY(read_collection(client.getter(), path));
  // Read after the list: a dead token means a new session, which is then not in it. Last segments
  // are compared, because one BMC names a session under two paths (T3).
  std::string own = client.session().uri();
  if (own.empty()) {
    return Error(Code::kUnsupported, "the BMC does not say which session is ours");
  }
  for (const Json& member : sessions.members) {
    std::string uri = link_of(member);
    if (uri.empty() || last_segment(uri) == last_segment(own)) continue;
    TRY(client.remove(uri));  // whatever it answers: the second look counts
  }
  sessions = TRY(read_collection(client.getter(), path));
  own = client.session().uri();
  bool others = std::any_of(
      sessions.members.begin(), sessions.members.end(),
      [&](const Json& member) { return last_segment(link_of(member)) != last_segment(own); });
  if (others) return Error(Code::kRefused, "sessions of others are still open on the BMC");
  if (!sessions.complete) return Error(Code::kUnavailable, "Sessions: " + sessions.why);
  return {};
}

}  // namespace leasehold::redfish
