#include "coordinator/cli/client_config.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/tls/ca_files.h"
#include "core/tls/identity.h"

namespace leasehold {
namespace {

constexpr const char* kMembers =
    "{\"url\": \"https://HOST:8440\", \"domain\", \"root_file\", \"certificate_file\", "
    "\"private_key_file\"}";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Paths in the file are meant from its folder, wherever the command is called.
std::string beside(const std::string& config_path, const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  return (std::filesystem::path(config_path).parent_path() / path).string();
}

Result<Json> read_members(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) {
    return Error(Code::kConfig, "there is no configuration " + path + ": write " + kMembers +
                                    " there, or name the file with --config or "
                                    "$LEASEHOLD_CONFIG");
  }
  Json json = TRY(read_json_file(path, limits::kConfigBytes));
  Status known = check_keys(
      json, {"url", "address", "domain", "root_file", "certificate_file", "private_key_file"},
      path);
  if (!known.ok()) return Error(Code::kConfig, known.error().message, known.error().field);
  return json;
}

Result<std::string> member(const Json& json, const std::string& path, const std::string& key) {
  Result<std::string> value = json_string(json, key);
  if (value.ok() && !value.value().empty()) return value;
  return Error(Code::kConfig, path + ": needs \"" + key + "\"; it holds " + kMembers, key);
}

// The host between "https://" and the port or the end.
Result<std::string> host_of(const std::string& url, const std::string& path) {
  const std::string scheme = "https://";
  std::string rest = url.starts_with(scheme) ? url.substr(scheme.size()) : "";
  std::string host;
  if (rest.starts_with('[')) {
    host = rest.substr(1, rest.find(']') - 1);
    rest = rest.substr(std::min(rest.size(), host.size() + 2));
  } else {
    host = rest.substr(0, rest.find(':'));
    rest = rest.substr(host.size());
  }
  const bool port = rest.empty() || (rest.size() > 1 && rest[0] == ':' &&
                                     rest.find_first_not_of("0123456789", 1) == std::string::npos);
  if (!host.empty() && port && host.find_first_of("/@?# ") == std::string::npos) return host;
  return Error(Code::kConfig,
               path + ": the url is https://HOST:PORT and nothing behind it, not " + url, "url");
}

Error own_refused(const ClientConfig& config) {
  const std::string& file = config.certificate_file;
  switch (config.own.refusal) {
    case ChainRefusal::kExpired:
      return Error(Code::kConfig,
                   "your certificate " + file + " has expired at " +
                       format_time(config.own.not_after_ms) +
                       ": have a new one issued, or use another configuration",
                   "certificate_file");
    case ChainRefusal::kNotYetValid:
      return Error(Code::kConfig,
                   "your certificate " + file + " is valid only from " +
                       format_time(config.own.not_before_ms) + ": is this machine's clock right?",
                   "certificate_file");
    case ChainRefusal::kUntrusted:
      return Error(Code::kConfig,
                   "your certificate " + file + " does not come from the root in " +
                       config.root_file + ": one of the two belongs to another installation",
                   "root_file");
    default:
      return Error(Code::kConfig,
                   "your certificate " + file + " is of no use here (" +
                       std::string(chain_refusal_name(config.own.refusal)) + ": " +
                       config.own.detail + "): it must be an operator's or a tenant's of domain " +
                       config.domain,
                   "certificate_file");
  }
}

Status judge_own(ClientConfig& config, Clock& clock) {
  Result<std::vector<std::string>> chain = pem_to_der(config.certificate_chain_pem);
  if (!chain.ok()) {
    return Error(Code::kConfig, config.certificate_file + ": " + chain.error().message,
                 "certificate_file");
  }
  JudgeRequest request;
  request.chain_der = std::move(chain.value());
  request.instant_ms = clock.now_ms();
  request.verb = Verb::kCallApi;
  config.own = judge(request, config.anchors());
  if (!config.own.allowed) return own_refused(config);
  return {};
}

}  // namespace

std::string client_config_path(const std::string& given) {
  if (!given.empty()) return given;
  const std::string named = environment("LEASEHOLD_CONFIG");
  if (!named.empty()) return named;
  return environment("HOME") + "/.config/leasehold/config.json";
}

Result<ClientConfig> read_client_config(const std::string& path, Clock& clock) {
  const Json json = TRY(read_members(path));
  ClientConfig config;
  config.file = path;
  config.url = TRY(member(json, path, "url"));
  while (config.url.ends_with('/')) config.url.pop_back();
  config.host = TRY(host_of(config.url, path));
  config.address = TRY_WITH(json_string_or(json, "address", ""), path);
  config.domain = TRY(member(json, path, "domain"));
  if (!is_valid_host_name(config.domain)) {
    return Error(Code::kConfig, path + ": the domain is a host name in lower case, as example.net",
                 "domain");
  }
  config.root_file = beside(path, TRY(member(json, path, "root_file")));
  config.certificate_file = beside(path, TRY(member(json, path, "certificate_file")));
  const std::string key_file = beside(path, TRY(member(json, path, "private_key_file")));
  const Anchors anchors = TRY(read_anchors(config.root_file, "", config.domain));
  config.root_pem = anchors.root_pem;
  LeafFiles leaf = TRY(read_leaf(config.certificate_file, key_file));
  config.certificate_chain_pem = std::move(leaf.certificate_chain_pem);
  config.private_key_pem = std::move(leaf.private_key_pem);
  TRY(judge_own(config, clock));
  return config;
}

Result<TrustConfig> read_trust_config(const std::string& path) {
  const Json json = TRY(read_members(path));
  TrustConfig trust;
  trust.root_file = beside(path, TRY(member(json, path, "root_file")));
  trust.domain = TRY(member(json, path, "domain"));
  return trust;
}

}  // namespace leasehold
