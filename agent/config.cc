#include "agent/config.h"

#include "core/base/files.h"
#include "core/tls/ca_files.h"
#include "core/tls/crypto.h"

namespace leasehold {
namespace {

Result<std::vector<int64_t>> uids_of(const Json& config, const std::string& key) {
  std::vector<int64_t> uids;
  for (const Json& uid : TRY(json_array(config, key))) {
    if (!uid.is_number_integer()) return Error(Code::kInvalidInput, "a list of user ids", key);
    uids.push_back(uid.get<int64_t>());
  }
  if (uids.empty()) return Error(Code::kInvalidInput, "\"" + key + "\" lists nobody", key);
  return uids;
}

Status read_identity(const Json& config, IdentityPaths& paths, SiteIdentity& identity) {
  identity.site = TRY(json_string(config, "site"));
  TRY(SiteId::parse(identity.site, "site"));
  identity.domain = TRY(json_string(config, "domain"));
  Json files = TRY(json_object(config, "identity"));
  TRY(check_keys(files,
                 {"root_file", "site_cas_file", "site_ca_file", "site_ca_key_file",
                  "certificate_file", "private_key_file"},
                 "identity"));
  paths.root = TRY(json_string(files, "root_file"));
  paths.site_cas = TRY(json_string(files, "site_cas_file"));
  paths.site_ca = TRY(json_string(files, "site_ca_file"));
  paths.site_ca_key = TRY(json_string(files, "site_ca_key_file"));
  paths.certificate = TRY(json_string(files, "certificate_file"));
  paths.private_key = TRY(json_string(files, "private_key_file"));
  return read_identity_files(paths, identity);
}

Result<std::optional<CoordinatorPlace>> read_coordinator(const Json& config) {
  if (json_member(config, "coordinator").is_null()) return std::optional<CoordinatorPlace>();
  Json member = TRY(json_object(config, "coordinator"));
  TRY(check_keys(member, {"url", "address"}, "coordinator"));
  std::string url = TRY(json_string(member, "url"));
  std::string address = TRY(json_string_or(member, "address", ""));
  CoordinatorPlace place = TRY_WITH(parse_coordinator_place(url, address), "coordinator");
  return std::optional<CoordinatorPlace>(std::move(place));
}

Status read_boot(const Json& config, SiteIdentity& identity) {
  Json gateway = TRY(json_object(config, "gateway"));
  TRY(check_keys(gateway, {"host", "address", "port"}, "gateway"));
  identity.gateway_host = TRY(json_string(gateway, "host"));
  identity.gateway_address = TRY(json_string(gateway, "address"));
  identity.gateway_port = TRY(json_int(gateway, "port"));
  Json image = TRY(json_object(config, "image"));
  TRY(check_keys(image, {"folder", "kernel", "initrd", "cmdline"}, "image"));
  identity.kernel_file = TRY(json_string(image, "kernel"));
  identity.initrd_file = TRY(json_string(image, "initrd"));
  identity.cmdline = TRY(json_string_or(image, "cmdline", ""));
  std::string initrd = TRY(json_string(image, "folder")) + "/" + identity.initrd_file;
  identity.image_sha256 = TRY(sha256_file_hex(initrd));
  return {};
}

Result<AgentConfig> parse(const Json& json) {
  TRY(check_keys(json,
                 {"site", "domain", "state_dir", "vault_key_file", "local_socket", "local_uids",
                  "gateway_socket", "gateway_uids", "bootd_socket", "identity", "gateway", "image",
                  "coordinator"},
                 "the configuration"));
  AgentConfig config;
  config.state_dir = TRY(json_string(json, "state_dir"));
  config.vault_key_file = TRY(json_string(json, "vault_key_file"));
  config.local_socket = TRY(json_string(json, "local_socket"));
  config.local_uids = TRY(uids_of(json, "local_uids"));
  config.gateway_socket = TRY(json_string(json, "gateway_socket"));
  config.gateway_uids = TRY(uids_of(json, "gateway_uids"));
  config.bootd_socket = TRY(json_string(json, "bootd_socket"));
  config.coordinator = TRY(read_coordinator(json));
  TRY(read_identity(json, config.identity_files, config.identity));
  TRY(read_boot(json, config.identity));
  return config;
}

}  // namespace

Status read_identity_files(const IdentityPaths& paths, SiteIdentity& identity) {
  identity.anchors = TRY(read_anchors(paths.root, paths.site_cas, identity.domain));
  identity.site_ca = TRY(read_ca_key(paths.site_ca, paths.site_ca_key));
  LeafFiles leaf = TRY(read_leaf(paths.certificate, paths.private_key));
  identity.agent_chain_pem = leaf.certificate_chain_pem;
  identity.agent_key_pem = leaf.private_key_pem;
  return {};
}

Result<AgentConfig> read_agent_config(const std::string& path) {
  Json json = TRY(read_json_file(path, limits::kConfigBytes));
  Result<AgentConfig> config = parse(json);
  if (config.ok()) return config;
  Error error = std::move(config).error();
  error.code = Code::kConfig;
  return std::move(error).with(path);
}

}  // namespace leasehold
