#include "drivers/redfish/session.h"

#include "core/base/bytes.h"
#include "core/base/log.h"
#include "drivers/redfish/collection.h"

namespace leasehold::redfish {
namespace {

// Reads with Basic: only to find our own stale sessions when no session can be had (T6).
Getter basic_getter(Transport& transport, const HttpHeaders& headers) {
  return [&transport, headers](const std::string& path) -> Result<Reply> {
    Reply reply = TRY(transport.get(path, headers));
    if (reply.good()) return reply;
    Call call;
    call.path = path;
    return transport.error(call, reply);
  };
}

}  // namespace

Call login_call(const std::string& sessions, const BmcCredential& credential) {
  Call call;
  call.method = "POST";
  call.path = sessions;
  call.body = Json{{"UserName", credential.user}, {"Password", credential.password}};
  return call;
}

std::string session_uri(const Reply& reply) {
  return reply.location.empty() ? link_of(reply.body) : reply.location;
}

void log_out(Transport& transport, const std::string& uri, const std::string& token) {
  if (uri.empty() || token.empty()) return;
  Call call;
  call.method = "DELETE";
  call.path = uri;
  call.headers = {{"X-Auth-Token", token}};
  call.timeout_ms = limits::kBmcLogoutMs;
  auto ignored = transport.send_once(call);
}

bool is_session_limit(const Reply& reply) {
  return !reply.good() && (any_message(reply.messages, "SessionLimitExceeded") ||
                           any_message(reply.messages, "RAC0218"));
}

const Message* password_change_required(const Reply& reply) {
  for (const Message& message : reply.messages) {
    if (message.is("PasswordChangeRequired")) return &message;
  }
  return nullptr;
}

std::string gated_account_of(const Message& message) {
  return message.args.empty() ? "" : path_of(message.args.front());
}

Session::Session(Transport& transport, ServiceRoot& root, BmcCredential credential)
    : transport_(transport), root_(root), credential_(std::move(credential)) {
  log_scrub(credential_.password);
  transport_.keep_secret(credential_.password);
}

Session::~Session() {
  if (!token_.empty() && uri_.empty()) find_own_uri();
  log_out(transport_, uri_, token_);
  wipe_secret(credential_.password);
}

void Session::drop_token() {
  // A BMC that is only confused (T7) still has the session: it must not stay in its small table.
  log_out(transport_, uri_, token_);
  token_.clear();
  uri_.clear();
}

Status Session::ensure() {
  if (!token_.empty()) return {};
  if (refused_) {
    return Error(Code::kCredentialRefused, "the BMC refused the password; it is not tried again");
  }
  if (closed_) {
    return Error(Code::kUnauthenticated, "the session ended after its password was changed");
  }
  Reply reply = TRY(post());
  if (is_session_limit(reply)) {
    TRY(make_room());
    reply = TRY(post());
  }
  return take(reply);
}

Result<Reply> Session::post() {
  return transport_.send_once(login_call(TRY(root_.sessions()), credential_));
}

Status Session::take(const Reply& reply) {
  Call call = login_call(TRY(root_.sessions()), credential_);
  if (const Message* gate = password_change_required(reply)) {
    gated_account_ = gated_account_of(*gate);
  }
  if (reply.good() && !reply.token.empty()) {
    token_ = reply.token;
    transport_.keep_secret(token_);
    uri_ = session_uri(reply);
    return {};
  }
  if (reply.good()) return Error(Code::kMalformed, "the BMC's login answer holds no X-Auth-Token");
  Error error = transport_.error(call, reply);
  if (is_session_limit(reply)) {
    error.code = Code::kUnavailable;
  } else if (reply.status == 401 || reply.status == 403) {
    refused_ = true;
    error.code = Code::kCredentialRefused;
  } else if (error.code == Code::kTimeout) {
    error.code = Code::kUnavailable;  // a login that failed has changed nothing
  }
  return error;
}

// The table is full, most likely of sessions that a killed agent left behind: those of our own
// account go. Others' go only if there are none of ours: whoever can fill the table (a tenant who
// learned an account) could otherwise keep his machine from being powered off.
Status Session::make_room() {
  std::string basic = "Basic " + base64_encode(credential_.user + ":" + credential_.password);
  transport_.keep_secret(basic);
  HttpHeaders headers = {{"Authorization", basic}};
  Getter get = basic_getter(transport_, headers);
  auto sessions = read_collection(get, TRY(root_.sessions()));
  if (!sessions.ok()) {
    if (sessions.error().code == Code::kUnauthenticated) {
      refused_ = true;
      sessions.error().code = Code::kCredentialRefused;
    }
    return std::move(sessions).error().with("the BMC's session table is full");
  }
  std::vector<std::string> ours, others;
  for (const Json& member : sessions.value().members) {
    auto session = read_member(get, member);
    bool own = session.ok() && json_text(session.value().body, "UserName") == credential_.user;
    (own ? ours : others).push_back(link_of(member));
  }
  int removed = 0;
  for (const std::string& path : ours.empty() ? others : ours) {
    Call call;
    call.method = "DELETE";
    call.path = path;
    call.headers = headers;
    auto deleted = transport_.send_once(call);
    if (deleted.ok() && deleted.value().good()) ++removed;
  }
  if (removed > 0) return {};
  return Error(Code::kUnavailable, "the BMC's session table is full, and nothing in it goes away");
}

// The BMC gave a token but no URI (T1): a single session of our user can only be this one.
void Session::find_own_uri() {
  auto path = root_.sessions();
  if (!path.ok()) return;
  Getter get = basic_getter(transport_, {{"X-Auth-Token", token_}});
  auto sessions = read_collection(get, path.value());
  if (!sessions.ok()) return;
  std::vector<std::string> ours;
  for (const Json& member : sessions.value().members) {
    auto session = read_member(get, member);
    if (session.ok() && json_text(session.value().body, "UserName") == credential_.user) {
      ours.push_back(link_of(member));
    }
  }
  if (ours.size() == 1) uri_ = ours.front();
}

Result<bool> try_login(Transport& transport, ServiceRoot& root, const BmcCredential& credential) {
  log_scrub(credential.password);
  transport.keep_secret(credential.password);
  Call call = login_call(TRY(root.sessions()), credential);
  Reply reply = TRY(transport.send_once(call));
  bool gated = password_change_required(reply) != nullptr;
  if (reply.good() && !reply.token.empty()) {
    log_out(transport, session_uri(reply), reply.token);
    return true;
  }
  if (reply.good()) return Error(Code::kMalformed, "the BMC's login answer holds no X-Auth-Token");
  if (gated) return true;
  if (!is_session_limit(reply) && (reply.status == 401 || reply.status == 403)) return false;
  return transport.error(call, reply);
}

}  // namespace leasehold::redfish
