#include "agent/gateway/relay.h"

#include <utility>

#include "core/base/log.h"

namespace leasehold {

Relay::Relay(Loop& loop, RelayPorts ports, int64_t answer_ms)
    : loop_(loop), ports_(std::move(ports)), answer_ms_(answer_ms) {}

Relay::~Relay() {
  for (const auto& [connection, peer] : peers_) {
    if (peer.respond) loop_.cancel(peer.timer);
  }
}

void Relay::handle(const ServerRequest& request, Responder respond) {
  Status forwarded = forward(request);
  if (!forwarded.ok()) {
    log_line(LogEvent::kRequestRefused, {{"peer", request.peer_address},
                                         {"path", request.path.substr(0, 64)},
                                         {"code", code_name(forwarded.error().code)}});
    return respond(error_response(forwarded.error()));
  }
  Peer& peer = peers_[request.connection];
  peer.respond = std::move(respond);
  peer.bytes = request.body.size();
  pending_bytes_ += peer.bytes;
  const uint64_t connection = request.connection;
  peer.timer = loop_.after(answer_ms_, [this, connection] { answer_overdue(connection); });
}

Status Relay::forward(const ServerRequest& request) {
  const bool known_method = request.method == "GET" || request.method == "POST";
  if (!known_method || !request.path.starts_with("/v1/")) {
    return Error(Code::kNotFound, "there is no such request");
  }
  if (!agent_) return Error(Code::kUnavailable, "the site's agent is not reachable; try again");
  if (pending_bytes_ + request.body.size() > limits::kGatewayPendingBytes) {
    return Error(Code::kUnavailable, "the site's agent has too much to do; try again");
  }
  auto known = peers_.find(request.connection);
  if (known != peers_.end() && known->second.respond) {
    return Error(Code::kConflict, "one request at a time");
  }
  // Made before "open" is sent, so that a refused request leaves no trace with the agent.
  std::string frame = TRY(request_frame(request));
  if (known == peers_.end()) {
    ports_.send(TRY(open_frame(request)));
    peers_[request.connection];
  }
  ports_.send(std::move(frame));
  return {};
}

void Relay::peer_gone(uint64_t connection) {
  auto it = peers_.find(connection);
  if (it == peers_.end()) return;
  settle(it->second);
  peers_.erase(it);
  ports_.send(close_frame(connection));
}

void Relay::agent_connected() { agent_ = true; }

void Relay::agent_lost() {
  agent_ = false;
  // Emptied first: closing calls peer_gone(), which must not tell the next agent of it.
  std::map<uint64_t, Peer> gone = std::exchange(peers_, {});
  for (auto& [connection, peer] : gone) {
    settle(peer);
    ports_.close(connection);
  }
}

Status Relay::agent_frame(const std::string& text) {
  AgentFrame frame = TRY(parse_agent_frame(text));
  auto it = peers_.find(frame.connection);
  // The machine has gone meanwhile; its close frame is on the way.
  if (it == peers_.end()) return {};
  Responder respond = settle(it->second);
  if (frame.type == AgentFrame::Type::kClose) {
    peers_.erase(it);
    log_line(LogEvent::kConnectionClosed, {{"conn", frame.connection}});
    ports_.close(frame.connection);
    return {};
  }
  if (!respond) return Error(Code::kMalformed, "a reply that no request waits for");
  respond(json_response(frame.status, frame.body));
  return {};
}

// The request of this peer, if there is one, waits no longer.
Responder Relay::settle(Peer& peer) {
  if (!peer.respond) return nullptr;
  loop_.cancel(peer.timer);
  pending_bytes_ -= std::exchange(peer.bytes, 0);
  return std::exchange(peer.respond, nullptr);
}

void Relay::answer_overdue(uint64_t connection) {
  auto it = peers_.find(connection);
  if (it == peers_.end() || !it->second.respond) return;
  // An answer that came later would be taken for the next request's: the connection must end.
  log_line(LogEvent::kRequestRefused, {{"conn", connection}, {"code", "TIMEOUT"}});
  ports_.close(connection);
  peer_gone(connection);
}

}  // namespace leasehold
