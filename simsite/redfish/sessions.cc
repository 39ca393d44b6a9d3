#include "simsite/limits.h"
#include "simsite/redfish/resource.h"

namespace leasehold::simsite {
namespace {

constexpr const char* kSessions = "/redfish/v1/SessionService/Sessions";

Json session_body(const Session& session) {
  return {{"@odata.id", child_path(kSessions, session.id)},
          {"@odata.type", "#Session.v1_5_0.Session"},
          {"Id", session.id},
          {"Name", "User Session"},
          {"UserName", session.user_name},
          {"SessionType", "Redfish"},
          {"Password", nullptr}};
}

const Session* find_session(const Call& call) {
  for (const Session& session : call.state.sessions) {
    if (session.id == call.captures[0]) return &session;
  }
  return nullptr;
}

RedfishReply get_service(const Call&) {
  Json body = resource("/redfish/v1/SessionService", "SessionService.v1_1_8.SessionService",
                       "SessionService", "Session Service");
  body["ServiceEnabled"] = true;
  body["SessionTimeout"] = 1800;
  body["Status"] = status_ok();
  body["Sessions"] = link(kSessions);
  return reply_json(200, body);
}

RedfishReply get_sessions(const Call& call) {
  std::vector<std::string> ids;
  for (const Session& session : call.state.sessions) ids.push_back(session.id);
  return reply_json(200, collection(kSessions, "Session", "Session Collection", ids));
}

RedfishReply get_session(const Call& call) {
  const Session* session = find_session(call);
  if (session == nullptr) return not_found(child_path(kSessions, call.captures[0]));
  return reply_json(200, session_body(*session));
}

RedfishReply login_refused() {
  return reply_error(401, {"ResourceAtUriUnauthorized",
                           "While accessing the resource at the sessions collection, the service "
                           "received an authorization error 'invalid username or password'.",
                           {kSessions, "invalid username or password"},
                           ""});
}

// DSP0266 clause 13.3.4.2: 201, the token in X-Auth-Token, the session's URI in Location.
RedfishReply create_session(const Call& call) {
  for (const char* name : {"UserName", "Password"}) {
    const Json& value = json_member(call.body, name);
    if (value.is_null()) return property_missing(name);
    if (!value.is_string()) return property_type(name);
  }
  std::string user = json_text(call.body, "UserName");
  PasswordCheck check =
      check_password(call.state, call.context, user, json_text(call.body, "Password"));
  RedfishReply reply;
  if (!check.ok) {
    reply = login_refused();
  } else if (call.state.sessions.size() >= kSessionsPerBmc) {
    reply = reply_error(503, {"SessionLimitExceeded",
                              "The session establishment failed due to the number of simultaneous "
                              "sessions exceeding the limit of the implementation.",
                              {},
                              ""});
  } else {
    Session session{std::to_string(call.state.sessions_made + 1), call.context.fresh_token, user};
    Json body = session_body(session);
    if (check.account->change_required) {
      body["@Message.ExtendedInfo"] = Json::array({change_required_info(check.account->id)});
    }
    reply = reply_json(201, body);
    reply.response.headers.push_back({"X-Auth-Token", session.token});
    reply.response.headers.push_back({"Location", child_path(kSessions, session.id)});
    reply.change = CreateSession{session};
  }
  if (check.account != nullptr) reply.login = LoginAttempt{check.account->id, check.ok};
  return reply;
}

RedfishReply delete_session(const Call& call) {
  const Session* session = find_session(call);
  if (session == nullptr) return not_found(child_path(kSessions, call.captures[0]));
  return reply_empty(DeleteSession{session->id, session->id == call.session});
}

}  // namespace

std::vector<Route> session_routes() {
  Route service{.pattern = "/redfish/v1/SessionService", .get = get_service};
  Route sessions{.pattern = kSessions, .get = get_sessions, .post = create_session};
  sessions.open_post = true;
  Route session{.pattern = std::string(kSessions) + "/*", .get = get_session};
  session.del = delete_session;
  return {service, sessions, session};
}

}  // namespace leasehold::simsite
