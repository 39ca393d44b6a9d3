#include <algorithm>

#include "core/base/bytes.h"
#include "simsite/redfish/resource.h"

namespace leasehold::simsite {
namespace {

std::vector<std::string> segments(const std::string& path) {
  std::vector<std::string> out;
  size_t start = 0;
  while (start < path.size()) {
    size_t end = std::min(path.find('/', start), path.size());
    if (end > start) out.push_back(path.substr(start, end - start));
    start = end + 1;
  }
  return out;
}

const std::vector<Route>& all_routes() {
  static const std::vector<Route> kRoutes = [] {
    std::vector<Route> routes;
    for (auto group : {service_root_routes, session_routes, account_routes, system_routes,
                       manager_routes, chassis_routes, update_routes}) {
      for (Route& route : group()) routes.push_back(std::move(route));
    }
    return routes;
  }();
  return kRoutes;
}

// Fixed segments win over '*': routes are tried in their order, groups list the fixed ones first.
const Route* find_route(const std::string& path, std::vector<std::string>& captures) {
  std::vector<std::string> wanted = segments(path);
  for (const Route& route : all_routes()) {
    std::vector<std::string> pattern = segments(route.pattern);
    if (pattern.size() != wanted.size()) continue;
    captures.clear();
    bool same = true;
    for (size_t i = 0; i < pattern.size() && same; ++i) {
      if (pattern[i] == "*") {
        captures.push_back(wanted[i]);
      } else {
        same = pattern[i] == wanted[i];
      }
    }
    if (same) return &route;
  }
  return nullptr;
}

Handler handler_of(const Route& route, const std::string& method) {
  if (method == "GET" || method == "HEAD") return route.get;
  if (method == "POST") return route.post;
  if (method == "PATCH") return route.patch;
  if (method == "DELETE") return route.del;
  return nullptr;
}

std::string allow_header(const Route& route) {
  std::string allow;
  auto add = [&](Handler handler, const char* name) {
    if (handler != nullptr) allow += (allow.empty() ? "" : ", ") + std::string(name);
  };
  add(route.get, "GET, HEAD");
  add(route.post, "POST");
  add(route.patch, "PATCH");
  add(route.del, "DELETE");
  return allow;
}

// A strong entity tag of what the body says.
std::string entity_tag(const std::string& body) {
  uint64_t hash = 1469598103934665603ULL;  // FNV-1a
  for (unsigned char byte : body) hash = (hash ^ byte) * 1099511628211ULL;
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(hash >> shift));
  return "\"" + hex_encode(bytes) + "\"";
}

RedfishReply unauthorized(bool with_challenge) {
  RedfishReply reply = reply_error(
      401,
      {"NoValidSession", "There is no valid session established with the implementation.", {}, ""});
  if (with_challenge) {
    reply.response.headers.push_back({"WWW-Authenticate", "Basic realm=\"Redfish\""});
  }
  return reply;
}

struct Identity {
  std::string user;     // empty: refused
  std::string session;  // its id, if it was by one
  std::optional<LoginAttempt> login;
};

// X-Auth-Token, else Basic (RFC 7617).
Identity authenticate(const BmcState& state, const CallContext& context,
                      const HttpHeaders& headers) {
  std::string token = header_value(headers, "X-Auth-Token");
  if (!token.empty()) {
    for (const Session& session : state.sessions) {
      if (equal_constant_time(session.token, token)) return {session.user_name, session.id, {}};
    }
    return {};
  }
  std::string basic = header_value(headers, "Authorization");
  if (basic.rfind("Basic ", 0) != 0) return {};
  Result<std::string> pair = base64_decode(basic.substr(6));
  if (!pair.ok()) return {};
  size_t colon = pair.value().find(':');
  if (colon == std::string::npos) return {};
  PasswordCheck check =
      check_password(state, context, pair.value().substr(0, colon), pair.value().substr(colon + 1));
  Identity identity;
  if (check.account != nullptr) identity.login = LoginAttempt{check.account->id, check.ok};
  if (check.ok) identity.user = check.account->user_name;
  return identity;
}

// DSP0266 clause 13.3.4: with a password that must be changed first, a user reaches his own account
// and his sessions, and nothing else.
bool is_gated(const BmcState& state, const std::string& user, const RedfishRequest& request) {
  const Account* account = state.find_account(user);
  if (account == nullptr || !account->change_required) return false;
  bool own = request.path == child_path("/redfish/v1/AccountService/Accounts", account->id);
  bool log_out = request.method == "DELETE" &&
                 request.path.rfind("/redfish/v1/SessionService/Sessions/", 0) == 0;
  return !own && !log_out;
}

bool may_change(const BmcState& state, const std::string& user, const Change& change) {
  if (std::holds_alternative<std::monostate>(change) ||
      std::holds_alternative<CreateSession>(change)) {
    return true;
  }
  const Account* account = state.find_account(user);
  if (account != nullptr && account->role_id == "Administrator") return true;
  if (const auto* deletion = std::get_if<DeleteSession>(&change)) {
    for (const Session& session : state.sessions) {
      if (session.id == deletion->id) return session.user_name == user;
    }
  }
  return false;
}

// The tag and the Allow header of a representation.
void finish_get(RedfishReply& reply, const Route& route) {
  if (reply.response.status == 200) {
    reply.response.headers.push_back({"ETag", entity_tag(reply.response.body)});
  }
  reply.response.headers.push_back({"Allow", allow_header(route)});
}

RedfishReply method_not_allowed(const Route& route, const std::string& method) {
  RedfishReply reply =
      reply_error(405, {"OperationNotAllowed",
                        "The HTTP method " + method + " is not allowed on this resource.",
                        {},
                        ""});
  reply.response.headers.push_back({"Allow", allow_header(route)});
  return reply;
}

// If-Match of DSP0266 clause 6.5; absent is fine here.
bool precondition_holds(const Route& route, const Call& call, const HttpHeaders& headers) {
  std::string wanted = header_value(headers, "If-Match");
  if (wanted.empty() || wanted == "*" || route.get == nullptr) return true;
  return wanted == entity_tag(route.get(call).response.body);
}

RedfishReply run(const Route& route, Handler handler, Call& call, const RedfishRequest& request) {
  if (request.method == "POST" || request.method == "PATCH") {
    Result<Json> body = parse_json(request.body.empty() ? "{}" : request.body);
    if (!body.ok() || !body.value().is_object()) {
      return reply_error(400, {"MalformedJSON",
                               "The request body submitted was malformed JSON and could not be "
                               "parsed by the receiving service.",
                               {},
                               ""});
    }
    call.body = std::move(body).value();
  }
  if (request.method == "PATCH" && !precondition_holds(route, call, request.headers)) {
    return reply_error(412, {"PreconditionFailed",
                             "The ETag supplied did not match the ETag of the resource.",
                             {},
                             ""});
  }
  RedfishReply reply = handler(call);
  if (!may_change(call.state, call.user, reply.change)) {
    return reply_error(403, {"InsufficientPrivilege",
                             "There are insufficient privileges for the account or credentials "
                             "associated with the current session to perform the operation.",
                             {},
                             ""});
  }
  if (request.method == "GET" || request.method == "HEAD") finish_get(reply, route);
  return reply;
}

}  // namespace

PasswordCheck check_password(const BmcState& state, const CallContext& context,
                             const std::string& user, const std::string& password) {
  const Account* account = state.find_account(user);
  if (account == nullptr) return {};
  bool locked = context.lockout && account->locked_until_ms > context.monotonic_ms;
  bool ok = account->enabled && !locked && equal_constant_time(account->password, password);
  return {account, ok};
}

RedfishReply redfish_answer(const BmcState& state, const CallContext& context,
                            const RedfishRequest& request) {
  std::vector<std::string> captures;
  const Route* route = find_route(request.path, captures);
  bool get = request.method == "GET" || request.method == "HEAD";
  bool open = route != nullptr &&
              ((get && route->open_get) || (request.method == "POST" && route->open_post));
  Identity identity;
  if (!open) {
    identity = authenticate(state, context, request.headers);
    if (identity.user.empty()) {
      RedfishReply reply = unauthorized(header_value(request.headers, "X-Auth-Token").empty());
      reply.login = identity.login;
      return reply;
    }
  }
  RedfishReply reply;
  if (!open && is_gated(state, identity.user, request)) {
    reply = change_required(state.find_account(identity.user)->id);
  } else if (route == nullptr) {
    reply = not_found(request.path);
  } else if (Handler handler = handler_of(*route, request.method); handler == nullptr) {
    reply = method_not_allowed(*route, request.method);
  } else {
    Call call{state, context, captures, nullptr, identity.user, identity.session};
    reply = run(*route, handler, call, request);
  }
  if (identity.login) reply.login = identity.login;
  return reply;
}

}  // namespace leasehold::simsite
