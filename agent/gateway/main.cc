// leasehold-gateway: the door through which machines reach their site's agent. Tenants with root
// talk to it, so it runs as a user of its own, with its server key and nothing else: it ends TLS,
// bounds what comes in and passes it on; the agent decides.
#include <memory>

#include "agent/gateway/config.h"
#include "agent/gateway/own_certificate.h"
#include "agent/gateway/relay.h"
#include "core/base/log.h"
#include "core/command_line/options.h"
#include "core/loop/framed_socket.h"
#include "core/loop/http_server.h"
#include "core/loop/loop.h"

namespace leasehold {
namespace {

HttpServerOptions server_options(const GatewayConfig& config) {
  HttpServerOptions options;
  options.tcp_host = config.listen_host;
  options.tcp_port = config.listen_port;
  options.tls = true;
  options.tls_config = config.tls;
  options.max_body_bytes = limits::kGatewayBodyBytes;
  options.max_connections = limits::kGatewayConnections;
  options.max_connections_per_peer = limits::kGatewayConnectionsPerPeer;
  return options;
}

FramedClient::Events agent_events(Relay& relay, std::unique_ptr<FramedClient>& agent,
                                  const std::string& path) {
  FramedClient::Events events;
  events.on_up = [&relay, path] {
    log_line(LogEvent::kAgentConnected, {{"socket", path}});
    relay.agent_connected();
  };
  events.on_down = [&relay, path] {
    log_line(LogEvent::kAgentLost, {{"socket", path}});
    relay.agent_lost();
  };
  events.on_frame = [&relay, &agent](std::string frame) {
    Status taken = relay.agent_frame(frame);
    if (taken.ok()) return;
    // An agent that cannot be understood is no agent: everything it knew is let go of.
    log_line(LogEvent::kRequestRefused, {{"peer", "agent"}, {"code", taken.error().text()}});
    agent->drop();
  };
  return events;
}

Status serve(const std::string& config_path) {
  const GatewayConfig config = TRY(read_gateway_config(config_path));
  Loop loop;
  // Both sides need the relay, and the relay needs both; they are set before the loop runs.
  std::unique_ptr<HttpServer> server;
  std::unique_ptr<FramedClient> agent;
  SystemClock clock;
  SystemRandom random;
  OwnCertificate own(loop, clock, random, config.tls, config.certificate_file,
                     {[&](std::string frame) { (void)agent->send(frame).ok(); },
                      [&](const TlsServerConfig& tls) { return server->use_tls(tls); }});
  RelayPorts ports;
  // A frame that does not get through means that the agent is gone; on_down follows.
  ports.send = [&](std::string frame) { (void)agent->send(frame).ok(); };
  ports.close = [&](uint64_t connection) { server->close(connection); };
  ports.certificate = [&](const std::string& chain_pem) { own.renewed(chain_pem); };
  ports.unsent = [&] { return agent->unsent_bytes(); };
  Relay relay(loop, std::move(ports));
  server = std::make_unique<HttpServer>(loop, server_options(config),
                                        [&](const ServerRequest& request, Responder respond) {
                                          relay.handle(request, std::move(respond));
                                        });
  server->on_close([&](uint64_t connection) { relay.peer_gone(connection); });
  agent = std::make_unique<FramedClient>(loop, config.agent_socket,
                                         agent_events(relay, agent, config.agent_socket));
  TRY(server->start());
  agent->start();
  own.watch();
  loop.stop_on_signals();
  log_line(LogEvent::kProgramStarted, {{"program", "leasehold-gateway"}, {"port", server->port()}});
  loop.run();
  log_line(LogEvent::kProgramStopping, {{"program", "leasehold-gateway"}});
  // Before the relay, because the server's last connections still report to it.
  server.reset();
  agent.reset();
  return {};
}

}  // namespace
}  // namespace leasehold

int main(int argc, char** argv) {
  std::string config;
  std::optional<int> exit_code = leasehold::parse_options(
      argc, argv, "The door of a Leasehold site to its machines: TLS outside, the agent inside.",
      {{"--config", "Configuration file (JSON)", &config, true}});
  if (exit_code) return *exit_code;
  leasehold::Status served = leasehold::serve(config);
  if (served.ok()) return 0;
  leasehold::log_line(leasehold::LogEvent::kProgramFailed,
                      {{"program", "leasehold-gateway"}, {"message", served.error().text()}});
  return 1;
}
