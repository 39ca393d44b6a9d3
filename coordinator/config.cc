#include "coordinator/config.h"

#include <charconv>

#include "core/base/files.h"
#include "core/base/limits.h"
#include "core/tls/crypto.h"

namespace leasehold {
namespace {

Status parse_listen(const std::string& text, CoordinatorConfig& config) {
  Error wrong(Code::kConfig, "\"listen\" looks like 127.0.0.1:8440 or [::1]:8440", "listen");
  size_t colon = text.rfind(':');
  if (colon == std::string::npos) return wrong;
  std::string_view port = std::string_view(text).substr(colon + 1);
  auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), config.listen_port);
  if (problem != std::errc() || end != port.data() + port.size()) return wrong;
  config.listen_host = text.substr(0, colon);
  if (config.listen_host.starts_with('[') && config.listen_host.ends_with(']')) {
    config.listen_host = config.listen_host.substr(1, config.listen_host.size() - 2);
  }
  return config.listen_host.empty() ? Status(wrong) : Status();
}

Error not_ours(const std::string& path, const Judgement& judgement) {
  return Error(Code::kConfig, path + " is not a coordinator's certificate under this root: " +
                                  std::string(chain_refusal_name(judgement.refusal)) + ": " +
                                  judgement.detail);
}

// What clients will ask of us, asked at start.
Status check_leaf(const std::string& path, const CoordinatorConfig& config, int64_t now_ms) {
  JudgeRequest request;
  request.chain_der = TRY(pem_to_der(config.leaf.certificate_chain_pem));
  request.instant_ms = now_ms;
  request.verb = Verb::kSignReceipt;
  Judgement judgement = judge(request, Anchors{config.root_pem, config.domain, {}});
  return judgement.allowed ? Status() : Status(not_ours(path, judgement));
}

// The issuing CA comes from this root and has not ended: what it issues is judged right away.
Status check_issuing(const std::string& path, const CoordinatorConfig& config, int64_t now_ms) {
  LeafRequest request;
  request.identity.kind = IdentityKind::kCoordinator;
  request.identity.domain = config.domain;
  request.identity.name = "start";
  request.csr_pem = TRY(make_csr(generate_key().private_key_pem));
  request.validity = {now_ms - 1000, now_ms + 60'000};
  Result<std::string> chain = issue_leaf(config.issuing, request);
  if (!chain.ok()) {
    return Error(Code::kConfig, path + " does not issue: " + chain.error().message);
  }
  JudgeRequest judged;
  judged.chain_der = TRY(pem_to_der(chain.value()));
  judged.instant_ms = now_ms;
  judged.verb = Verb::kSignReceipt;
  Judgement judgement = judge(judged, Anchors{config.root_pem, config.domain, {}});
  return judgement.allowed ? Status() : Status(not_ours(path, judgement));
}

Status read_identity(const Json& value, CoordinatorConfig& config, int64_t now_ms) {
  Json files = TRY(json_object(value, "identity"));
  TRY(check_keys(files,
                 {"root_file", "issuing_ca_file", "issuing_ca_key_file", "certificate_file",
                  "private_key_file"},
                 "identity"));
  std::string root = TRY(json_string(files, "root_file"));
  std::string issuing = TRY(json_string(files, "issuing_ca_file"));
  std::string issuing_key = TRY(json_string(files, "issuing_ca_key_file"));
  std::string certificate = TRY(json_string(files, "certificate_file"));
  std::string key = TRY(json_string(files, "private_key_file"));
  Anchors anchors = TRY(read_anchors(root, "", config.domain));
  config.root_pem = anchors.root_pem;
  config.root_sha256 = TRY(certificate_sha256(config.root_pem));
  config.issuing = TRY(read_ca_key(issuing, issuing_key));
  config.leaf = TRY(read_leaf(certificate, key));
  TRY(check_issuing(issuing, config, now_ms));
  return check_leaf(certificate, config, now_ms);
}

Result<CoordinatorConfig> parse(const Json& value, int64_t now_ms) {
  TRY(check_keys(value, {"domain", "state_dir", "listen", "url", "identity"}, "the configuration"));
  CoordinatorConfig config;
  config.domain = TRY(json_string(value, "domain"));
  config.state_dir = TRY(json_string(value, "state_dir"));
  std::string listen = TRY(json_string(value, "listen"));
  TRY(parse_listen(listen, config));
  config.url = TRY(json_string(value, "url"));
  if (!config.url.starts_with("https://") || config.url.size() < 9) {
    return Error(Code::kConfig, "\"url\" begins with https://", "url");
  }
  TRY(read_identity(value, config, now_ms));
  return config;
}

}  // namespace

Result<CoordinatorConfig> read_coordinator_config(const std::string& path, Clock& clock) {
  const Json value = TRY(read_json_file(path, limits::kConfigBytes));
  Result<CoordinatorConfig> config = parse(value, clock.now_ms());
  if (config.ok()) return config;
  return Error(Code::kConfig, path + ": " + config.error().message, config.error().field);
}

}  // namespace leasehold
