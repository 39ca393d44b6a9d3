#include "pxe/config.h"

#include <sys/stat.h>

#include "core/base/files.h"
#include "core/base/json.h"

namespace leasehold {
namespace {

Result<std::vector<int64_t>> read_uids(const Json& value) {
  std::vector<int64_t> uids;
  for (const Json& uid : TRY(json_array(value, "control_uids"))) {
    if (!uid.is_number_integer() || uid.get<int64_t>() < 0) {
      return Error(Code::kConfig, "\"control_uids\" must be a list of user ids", "control_uids");
    }
    uids.push_back(uid.get<int64_t>());
  }
  if (uids.empty()) {
    return Error(Code::kConfig, "\"control_uids\" must name the agent's user id", "control_uids");
  }
  return uids;
}

Result<BootdConfig> parse(const Json& value) {
  TRY(check_keys(
      value,
      {"control_socket", "control_uids", "listen_host", "listen_port", "public_url", "image_dir"},
      "the configuration"));
  BootdConfig config;
  config.control_socket = TRY(json_string(value, "control_socket"));
  config.control_uids = TRY(read_uids(value));
  config.listen_host = TRY(json_string(value, "listen_host"));
  const int64_t port = TRY(json_int(value, "listen_port"));
  if (port < 0 || port > 65535) {
    return Error(Code::kConfig, "\"listen_port\" must be 0 to 65535", "listen_port");
  }
  config.listen_port = static_cast<uint16_t>(port);
  config.public_url = TRY(json_string_or(value, "public_url", ""));
  while (config.public_url.ends_with('/')) config.public_url.pop_back();
  const bool plain = config.public_url.find_first_of(" \t\r\n$&|") == std::string::npos;
  if (!config.public_url.empty() && !(config.public_url.starts_with("http://") && plain)) {
    return Error(Code::kConfig, "\"public_url\" must be http://host:port", "public_url");
  }
  config.image_dir = TRY(json_string(value, "image_dir"));
  struct stat info {};
  if (::stat(config.image_dir.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return Error(Code::kConfig, "\"image_dir\" " + config.image_dir + " is not a folder",
                 "image_dir");
  }
  return config;
}

}  // namespace

Result<BootdConfig> read_bootd_config(const std::string& path) {
  const Json value = TRY(read_json_file(path, limits::kConfigBytes));
  Result<BootdConfig> config = parse(value);
  if (config.ok()) return config;
  return Error(Code::kConfig, path + ": " + config.error().message, config.error().field);
}

std::string public_url_of(const BootdConfig& config, uint16_t port) {
  if (!config.public_url.empty()) return config.public_url;
  const bool ipv6 = config.listen_host.find(':') != std::string::npos;
  const std::string host = ipv6 ? "[" + config.listen_host + "]" : config.listen_host;
  return "http://" + host + ":" + std::to_string(port);
}

}  // namespace leasehold
