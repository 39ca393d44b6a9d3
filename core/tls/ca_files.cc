#include "core/tls/ca_files.h"

#include "core/base/bytes.h"
#include "core/base/files.h"
#include "core/base/ids.h"
#include "core/base/limits.h"
#include "core/tls/certificate.h"

namespace leasehold {
namespace {

Error config_error(const std::string& path, const std::string& what) {
  return Error(Code::kConfig, path + ": " + what);
}

// The certificates of a file, each as PEM.
Result<std::vector<std::string>> read_certificates(const std::string& path) {
  std::string text = TRY(read_file(path, limits::kPemFileBytes));
  Result<std::vector<std::string>> chain = pem_to_der(text);
  if (!chain.ok()) return config_error(path, chain.error().message);
  std::vector<std::string> pems;
  for (const std::string& der : chain.value()) pems.push_back(der_to_pem(der));
  return pems;
}

Result<std::string> read_key_of(const std::string& certificate, const std::string& key_path) {
  std::string key_pem = TRY(read_secret_file(key_path, limits::kPemFileBytes));
  Result<PkeyPtr> key = parse_p256_key(key_pem);
  if (!key.ok()) return config_error(key_path, key.error().message);
  X509Ptr owner = TRY(parse_certificate_pem(certificate));
  ErrorScope errors;
  if (X509_check_private_key(owner.get(), key.value().get()) != 1) {
    return config_error(key_path, "is not the key of the certificate beside it");
  }
  return key_pem + "\n";
}

std::string joined(const std::vector<std::string>& pems, size_t from) {
  std::string text;
  for (size_t i = from; i < pems.size(); ++i) text += pems[i];
  return text;
}

Status add_digests(const std::string& path, const std::string& site, const Json& digests,
                   Anchors& anchors) {
  if (!is_valid_id(site)) return config_error(path, "not the id of a site: " + site);
  if (!digests.is_array()) return config_error(path, site + " must have a list of digests");
  for (const Json& digest : digests) {
    std::string text = digest.is_string() ? digest.get<std::string>() : "";
    if (text.size() != 64 || !hex_decode(text).ok()) {
      return config_error(path, site + " must list SHA-256 digests, 64 lower-case hex digits each");
    }
    anchors.site_cas.emplace_back(site, text);
  }
  return {};
}

}  // namespace

Result<CaKey> read_ca_key(const std::string& pem_path, const std::string& key_path) {
  std::vector<std::string> pems = TRY(read_certificates(pem_path));
  X509Ptr certificate = TRY(parse_certificate_pem(pems[0]));
  if (ca_form(certificate.get()).role == CaRole::kNone) {
    return config_error(pem_path, "does not begin with a certificate authority of ours");
  }
  std::string key = TRY(read_key_of(pems[0], key_path));
  return CaKey{pems[0], std::move(key), joined(pems, 1)};
}

Result<LeafFiles> read_leaf(const std::string& pem_path, const std::string& key_path) {
  std::vector<std::string> pems = TRY(read_certificates(pem_path));
  std::string key = TRY(read_key_of(pems[0], key_path));
  return LeafFiles{joined(pems, 0), std::move(key)};
}

Result<Anchors> read_anchors(const std::string& root_path, const std::string& site_cas_path,
                             const std::string& domain) {
  if (!is_valid_host_name(domain)) {
    return Error(Code::kConfig, "not a domain in lower case: " + domain, "domain");
  }
  std::vector<std::string> pems = TRY(read_certificates(root_path));
  X509Ptr root = TRY(parse_certificate_pem(pems[0]));
  if (pems.size() != 1 || ca_form(root.get()).role != CaRole::kRoot) {
    return config_error(root_path, "must hold the root certificate alone");
  }
  Anchors anchors{pems[0], domain, {}};
  if (site_cas_path.empty()) return anchors;
  Json recorded = TRY(read_json_file(site_cas_path, limits::kConfigBytes));
  if (!recorded.is_object()) return config_error(site_cas_path, "must be an object of sites");
  for (const auto& [site, digests] : recorded.items()) {
    TRY(add_digests(site_cas_path, site, digests, anchors));
  }
  return anchors;
}

}  // namespace leasehold
