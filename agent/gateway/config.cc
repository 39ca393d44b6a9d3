#include "agent/gateway/config.h"

#include "core/base/files.h"
#include "core/base/json.h"

namespace leasehold {
namespace {

Result<GatewayConfig> parse(const Json& value) {
  TRY(check_keys(
      value, {"listen_host", "listen_port", "certificate_file", "private_key_file", "agent_socket"},
      "the configuration"));
  GatewayConfig config;
  config.listen_host = TRY(json_string(value, "listen_host"));
  const int64_t port = TRY(json_int(value, "listen_port"));
  if (port < 0 || port > 65535) {
    return Error(Code::kConfig, "\"listen_port\" must be 0 to 65535", "listen_port");
  }
  config.listen_port = static_cast<uint16_t>(port);
  config.agent_socket = TRY(json_string(value, "agent_socket"));
  config.tls.ask_client_certificate = true;
  config.certificate_file = TRY(json_string(value, "certificate_file"));
  config.tls.certificate_chain_pem =
      TRY_WITH(read_file(config.certificate_file, limits::kConfigBytes), "certificate_file");
  const std::string key_file = TRY(json_string(value, "private_key_file"));
  config.tls.private_key_pem =
      TRY_WITH(read_secret_file(key_file, limits::kConfigBytes), "private_key_file");
  return config;
}

}  // namespace

Result<GatewayConfig> read_gateway_config(const std::string& path) {
  const Json value = TRY(read_json_file(path, limits::kConfigBytes));
  Result<GatewayConfig> config = parse(value);
  if (config.ok()) return config;
  return Error(Code::kConfig, path + ": " + config.error().message, config.error().field);
}

}  // namespace leasehold
