#include "agent/gateway_link.h"

#include <cstdlib>

#include "core/base/bytes.h"
#include "core/base/log.h"
#include "core/loop/http_server.h"

namespace leasehold {
namespace {

// A machine's connection as the doors know it: the gateway's number, made unique over gateways that
// reconnect.
uint64_t door_key(uint64_t link, int64_t number) {
  return (link << 32) | static_cast<uint32_t>(number);
}

// Only to know whom to close; whether it may do anything is judged at each request.
std::string node_of_leaf(const std::vector<std::string>& chain_der, const Tools& tools) {
  if (chain_der.empty()) return "";
  JudgeRequest request;
  request.chain_der = chain_der;
  request.instant_ms = tools.clock->now_ms();
  request.verb = Verb::kSession;
  return judge(request, tools.identity->anchors).identity.node;
}

FramedListenerOptions listener_options(std::string path, std::vector<int64_t> uids) {
  FramedListenerOptions options;
  options.path = std::move(path);
  options.mode = 0666;  // the peer's uid decides, not the folder's group
  options.allowed_uids = std::move(uids);
  return options;
}

}  // namespace

std::string reply_frame(int64_t number, const HttpResponse& response) {
  auto frame_of = [number](int status, const std::string& body) {
    return dump_json(Json{{"type", "reply"}, {"conn", number}, {"status", status}, {"body", body}});
  };
  std::string frame = frame_of(response.status, response.body);
  if (frame.size() <= limits::kGatewayFrameBytes) return frame;
  HttpResponse instead = error_response(
      Error(Code::kInternal, "the answer is too large to be passed on; see the site's journal"));
  return frame_of(instead.status, instead.body);
}

GatewayLink::GatewayLink(Loop& loop, const Tools& tools, MachineDoor& door, std::string socket_path,
                         std::vector<int64_t> gateway_uids)
    : tools_(tools),
      door_(door),
      listener_(
          loop, listener_options(std::move(socket_path), std::move(gateway_uids)),
          FramedListener::Events{[this](uint64_t link) { links_[link]; },
                                 [this](uint64_t link, std::string text) { frame(link, text); },
                                 [this](uint64_t link) { link_lost(link); }}) {}

Status GatewayLink::start() { return listener_.start(); }

void GatewayLink::frame(uint64_t link, const std::string& text) {
  Result<Json> frame = parse_json(text, limits::kGatewayFrameBytes);
  Result<int64_t> number =
      frame.ok() ? json_int(frame.value(), "conn") : Result<int64_t>(frame.error());
  std::string type = frame.ok() ? json_text(frame.value(), "type") : "";
  if (type == "renew") return renew(link, frame.value());
  if (!number.ok() || number.value() < 0 || number.value() > UINT32_MAX) {
    // A gateway that sends what is no frame is not ours any more.
    listener_.close(link);
    return;
  }
  if (type == "open") return opened(link, number.value(), frame.value());
  if (type == "request") return requested(link, number.value(), frame.value());
  if (type == "close") return closed(link, number.value());
  listener_.close(link);
}

void GatewayLink::opened(uint64_t link, int64_t number, const Json& frame) {
  Connection connection;
  connection.peer = json_text(frame, "peer");
  size_t bytes = 0;
  for (const Json& certificate : json_member(frame, "chain")) {
    Result<std::string> der = certificate.is_string()
                                  ? base64_decode(certificate.get<std::string>())
                                  : Result<std::string>(Error(Code::kMalformed, "no string"));
    if (der.ok()) bytes += der.value().size();
    if (!der.ok() || bytes > limits::kGatewayChainBytes) return listener_.close(link);
    connection.chain_der.push_back(std::move(der).value());
  }
  connection.node = node_of_leaf(connection.chain_der, tools_);
  links_[link].connections[number] = std::move(connection);
}

void GatewayLink::requested(uint64_t link, int64_t number, const Json& frame) {
  auto it = links_[link].connections.find(number);
  if (it == links_[link].connections.end()) return;  // closed meanwhile
  MachineRequest request;
  request.connection = door_key(link, number);
  request.peer = it->second.peer;
  request.chain_der = it->second.chain_der;
  request.method = json_text(frame, "method");
  request.path = json_text(frame, "path");
  request.query = json_text(frame, "query");
  request.body = json_text(frame, "body");
  door_.handle(request,
               [this, link, number](HttpResponse response) { reply(link, number, response); });
}

void GatewayLink::reply(uint64_t link, int64_t number, const HttpResponse& response) {
  auto it = links_.find(link);
  if (it == links_.end() || !it->second.connections.contains(number)) return;
  Status sent = listener_.send(link, reply_frame(number, response));
  if (!sent.ok()) listener_.close(link);
}

void GatewayLink::renew(uint64_t link, const Json& frame) {
  std::string csr = json_text(frame, "csr");
  if (!renew_ || csr.size() > limits::kCsrBytes) return;
  renew_(csr, [this, link](const std::string& chain_pem) {
    Json answer = {{"type", "certificate"}, {"chain", chain_pem}};
    (void)listener_.send(link, dump_json(answer)).ok();  // a gateway that has gone asks again
  });
}

void GatewayLink::closed(uint64_t link, int64_t number) {
  links_[link].connections.erase(number);
  door_.connection_closed(door_key(link, number));
}

void GatewayLink::link_lost(uint64_t link) {
  auto it = links_.find(link);
  if (it == links_.end()) return;
  for (const auto& [number, connection] : it->second.connections) {
    door_.connection_closed(door_key(link, number));
  }
  links_.erase(it);
}

void GatewayLink::close_node(const std::string& node) {
  for (auto& [link, state] : links_) {
    std::vector<int64_t> concerned;
    for (const auto& [number, connection] : state.connections) {
      if (!node.empty() && connection.node == node) concerned.push_back(number);
    }
    for (int64_t number : concerned) {
      state.connections.erase(number);
      door_.connection_closed(door_key(link, number));
      log_line(LogEvent::kConnectionClosed, Json{{"node", node}});
      Status sent = listener_.send(link, dump_json(Json{{"type", "close"}, {"conn", number}}));
      if (!sent.ok()) break;  // the link is going; all of its connections go with it
    }
  }
}

}  // namespace leasehold
