// leasehold-bootd: the boot services of a site's provisioning network. It has no database, no keys
// and no way to a BMC; the agent tells it over a Unix socket which MAC may boot what.
#include <cstdio>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/command_line/options.h"
#include "core/loop/http_server.h"
#include "core/loop/loop.h"
#include "pxe/boot_control_api.h"
#include "pxe/boot_server.h"
#include "pxe/config.h"

namespace leasehold {
namespace {

HttpServerOptions boot_options(const BootdConfig& config) {
  HttpServerOptions options;
  options.tcp_host = config.listen_host;
  options.tcp_port = config.listen_port;
  options.max_body_bytes = 0;
  options.host_optional = true;
  options.max_connections_per_peer = limits::kBootConnectionsPerPeer;
  return options;
}

HttpServerOptions control_options(const BootdConfig& config) {
  HttpServerOptions options;
  options.unix_path = config.control_socket;
  options.unix_mode = 0666;  // whoever connects is judged by its user id
  options.allowed_uids = config.control_uids;
  return options;
}

Status serve(const std::string& config_path) {
  const BootdConfig config = TRY(read_bootd_config(config_path));
  SystemClock clock;
  SystemRandom random;
  Loop loop;
  BootTable table(clock);
  const ImageFolder images(config.image_dir);
  BootControlApi control(loop, table, images, random_id(random, "i"));
  // The port is known only once the server listens, and the scripts name it.
  std::unique_ptr<BootServer> boot;
  HttpServer boot_http(loop, boot_options(config), [&](const ServerRequest& request, Responder to) {
    to(boot->answer(request));
  });
  HttpServer control_http(
      loop, control_options(config),
      [&](const ServerRequest& request, Responder to) { control.handle(request, std::move(to)); });
  control_http.on_close([&](uint64_t connection) { control.connection_closed(connection); });
  TRY(boot_http.start());
  const std::string url = public_url_of(config, boot_http.port());
  boot = std::make_unique<BootServer>(table, images, url, [&] { control.claims_changed(); });
  TRY(control_http.start());
  loop.stop_on_signals();
  log_line(LogEvent::kProgramStarted,
           {{"program", "leasehold-bootd"}, {"url", url}, {"control", config.control_socket}});
  loop.run();
  log_line(LogEvent::kProgramStopping, {{"program", "leasehold-bootd"}});
  return {};
}

}  // namespace
}  // namespace leasehold

int main(int argc, char** argv) {
  std::string config;
  std::optional<int> exit_code = leasehold::parse_options(
      argc, argv,
      "Boot services of a Leasehold site: boot scripts, run documents and images by HTTP.",
      {{"--config", "Configuration file (JSON)", &config, true}});
  if (exit_code) return *exit_code;
  leasehold::Status served = leasehold::serve(config);
  if (served.ok()) return 0;
  leasehold::log_line(leasehold::LogEvent::kProgramFailed,
                      {{"program", "leasehold-bootd"}, {"message", served.error().text()}});
  return 1;
}
