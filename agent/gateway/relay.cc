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
    log_refusal(request, forwarded.error());
    return respond(error_response(forwarded.error()));
  }
  Peer& peer = peers_[request.connection];
  peer.respond = std::move(respond);
  const uint64_t connection = request.connection;
  peer.timer = loop_.after(answer_ms_, [this, connection] { answer_overdue(connection); });
}

Status Relay::forward(const ServerRequest& request) {
  const bool known_method = request.method == "GET" || request.method == "POST";
  if (!known_method || !request.path.starts_with("/v1/")) {
    return Error(Code::kNotFound, "there is no such request");
  }
  if (!agent_) return Error(Code::kUnavailable, "the site's agent is not reachable; try again");
  TRY(check_body(request));
  auto known = peers_.find(request.connection);
  if (known != peers_.end() && known->second.respond) {
    return Error(Code::kConflict, "one request at a time");
  }
  // Made before "open" is sent, so that a refused request leaves no trace with the agent.
  std::string frame = TRY(request_frame(request));
  if (known == peers_.end()) {
    send(TRY(open_frame(request)), request.peer_address);
    peers_[request.connection];
  }
  send(std::move(frame), request.peer_address);
  return {};
}

// Only a machine with a certificate has much to say, and only as results.
Status Relay::check_body(const ServerRequest& request) {
  if (request.method == "GET" && !request.body.empty()) {
    return Error(Code::kInvalidInput, "a GET has no body");
  }
  const bool small = request.peer_chain_der.empty() || request.path == "/v1/hello" ||
                     request.path == "/v1/join" || request.path == "/v1/telemetry";
  if (small && request.body.size() > limits::kGatewaySmallBodyBytes) {
    return Error(Code::kTooLarge, "this request has at most " +
                                      std::to_string(limits::kGatewaySmallBodyBytes) + " bytes");
  }
  forget_sent();
  const auto of_peer = unsent_of_.find(request.peer_address);
  const size_t its_own = of_peer == unsent_of_.end() ? 0 : of_peer->second;
  if (unsent_bytes_ + request.body.size() > limits::kGatewayPendingBytes ||
      its_own + request.body.size() > limits::kGatewayPendingBytesPerPeer) {
    return Error(Code::kUnavailable, "the site's agent has too much to do; try again");
  }
  return {};
}

void Relay::send(std::string frame, const std::string& address) {
  const size_t bytes = frame.size();
  unsent_.push_back({address, bytes});
  unsent_bytes_ += bytes;
  unsent_of_[address] += bytes;
  ports_.send(std::move(frame));
}

// Frames leave in their order, so what the socket still holds is the newest of them.
void Relay::forget_sent() {
  const size_t held = ports_.unsent ? ports_.unsent() : 0;
  while (!unsent_.empty() && unsent_bytes_ - unsent_.front().bytes >= held) {
    const Unsent& sent = unsent_.front();
    unsent_bytes_ -= sent.bytes;
    auto of_peer = unsent_of_.find(sent.address);
    of_peer->second -= sent.bytes;
    if (of_peer->second == 0) unsent_of_.erase(of_peer);
    unsent_.pop_front();
  }
}

// A peer that is refused all the time does not fill the journal.
void Relay::log_refusal(const ServerRequest& request, const Error& error) {
  const int64_t now_ms = clock_.monotonic_ms();
  if (refused_.size() >= limits::kGatewayRefusalLogPeers) refused_.clear();
  auto [it, is_new] = refused_.try_emplace(request.peer_address);
  Refused& before = it->second;
  if (!is_new && now_ms - before.logged_ms < limits::kGatewayRefusalLogMs) {
    ++before.unlogged;
    return;
  }
  log_line(LogEvent::kRequestRefused, {{"peer", request.peer_address},
                                       {"path", request.path.substr(0, 64)},
                                       {"code", code_name(error.code)},
                                       {"unlogged", before.unlogged}});
  before = {now_ms, 0};
}

void Relay::peer_gone(uint64_t connection) {
  auto it = peers_.find(connection);
  if (it == peers_.end()) return;
  settle(it->second);
  peers_.erase(it);
  send(close_frame(connection), "");
}

void Relay::agent_connected() { agent_ = true; }

void Relay::agent_lost() {
  agent_ = false;
  // What was not sent has gone with the connection.
  unsent_.clear();
  unsent_of_.clear();
  unsent_bytes_ = 0;
  // Emptied first: closing calls peer_gone(), which must not tell the next agent of it.
  std::map<uint64_t, Peer> gone = std::exchange(peers_, {});
  for (auto& [connection, peer] : gone) {
    settle(peer);
    ports_.close(connection);
  }
}

Status Relay::agent_frame(const std::string& text) {
  AgentFrame frame = TRY(parse_agent_frame(text));
  if (frame.type == AgentFrame::Type::kCertificate) {
    ports_.certificate(frame.body);
    return {};
  }
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
