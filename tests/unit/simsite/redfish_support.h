// A BMC's state and calls on it, without any socket.
#pragma once

#include <string>

#include "core/base/bytes.h"
#include "simsite/redfish/resource.h"

namespace leasehold::simsite {

inline BmcState test_state() {
  BmcState state;
  state.machine = "m1";
  state.serial = "SIM-m1";
  state.uuid = "00000000-0000-4000-a000-000000000001";
  state.mac = "52:54:00:77:00:01";
  state.firmware = {{"BMC", "1.12.0"}, {"BIOS", "2.4.1"}};
  state.accounts.push_back({.id = "1", .user_name = "", .password = "", .enabled = false});
  state.accounts.push_back({.id = "2", .user_name = "admin", .password = "factory-1"});
  state.accounts.push_back(
      {.id = "3", .user_name = "watch", .password = "watch-me-1", .role_id = "ReadOnly"});
  state.sessions.push_back({"7", "token-7", "admin"});
  return state;
}

inline std::string basic(const std::string& user, const std::string& password) {
  return "Basic " + base64_encode(user + ":" + password);
}

struct TestCall {
  std::string method = "GET";
  std::string path;
  Json body = nullptr;
  HttpHeaders headers = {{"X-Auth-Token", "token-7"}};
};

inline RedfishReply answer(const BmcState& state, const TestCall& call, bool lockout = false) {
  RedfishRequest request{call.method, call.path, call.headers,
                         call.body.is_null() ? "" : dump_json(call.body)};
  return redfish_answer(state, {1000, "fresh-token", lockout}, request);
}

inline Json body_of(const RedfishReply& reply) { return parse_json(reply.response.body).value(); }

inline std::string message_id(const RedfishReply& reply) {
  std::string id = body_of(reply)["error"]["@Message.ExtendedInfo"][0]["MessageId"];
  return id.substr(id.rfind('.') + 1);
}

}  // namespace leasehold::simsite
