#include "core/tls/identity.h"

#include <charconv>
#include <vector>

#include "core/base/ids.h"
#include "core/tls/matrix.h"

namespace leasehold {
namespace {

constexpr std::string_view kScheme = "spiffe://";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// Decimal, no sign, no leading zero, within int64_t.
bool read_generation(std::string_view text, int64_t& generation) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  if (text.front() == '0' && text.size() > 1) return false;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), generation);
  return problem == std::errc() && end == text.data() + text.size();
}

bool read_id(std::string_view text, std::string& id) {
  id = text;
  return is_valid_id(text);
}

// node/<node>/<generation>/ and one of ramdisk/<run>, node-tenant, node.
bool read_node(const std::vector<std::string_view>& path, Identity& identity) {
  if (path.size() < 4 || path[0] != "node") return false;
  if (!read_id(path[1], identity.node) || !read_generation(path[2], identity.generation)) {
    return false;
  }
  if (path[3] == "ramdisk") {
    identity.kind = IdentityKind::kRamdisk;
    return path.size() == 5 && read_id(path[4], identity.run);
  }
  identity.kind = path[3] == "node" ? IdentityKind::kNode : IdentityKind::kNodeTenant;
  return path.size() == 4 && path[3] == kind_name(identity.kind);
}

bool read_site_path(const std::vector<std::string_view>& path, Identity& identity) {
  if (path.size() != 1) return read_node(path, identity);
  identity.kind = path[0] == "gateway" ? IdentityKind::kGateway : IdentityKind::kSiteAgent;
  return path[0] == kind_name(identity.kind);
}

bool read_centre_path(const std::vector<std::string_view>& path, Identity& identity) {
  if (path.size() == 2 && (path[0] == "coordinator" || path[0] == "operator")) {
    identity.kind = path[0] == "operator" ? IdentityKind::kOperator : IdentityKind::kCoordinator;
    return read_id(path[1], identity.name);
  }
  identity.kind = IdentityKind::kTenant;
  return path.size() == 3 && path[0] == "tenant" && read_id(path[1], identity.tenant) &&
         read_id(path[2], identity.name);
}

bool read_uri(std::string_view uri, Identity& identity) {
  if (identity.domain.empty() || !uri.starts_with(kScheme)) return false;
  uri.remove_prefix(kScheme.size());
  size_t slash = uri.find('/');
  if (slash == std::string_view::npos) return false;
  std::string_view host = uri.substr(0, slash);
  std::vector<std::string_view> path = split(uri.substr(slash + 1), '/');
  if (host == identity.domain) return read_centre_path(path, identity);
  if (!host.ends_with("." + identity.domain)) return false;
  host.remove_suffix(identity.domain.size() + 1);
  return read_id(host, identity.site) && read_site_path(path, identity);
}

}  // namespace

std::string_view kind_name(IdentityKind kind) { return kind_rule(kind).name; }

bool is_valid_host_name(std::string_view text) {
  if (text.size() > 253) return false;
  for (std::string_view label : split(text, '.')) {
    if (!is_valid_id(label) || label.back() == '-') return false;
  }
  return true;
}

std::string Identity::uri() const {
  std::string site_host = std::string(kScheme) + site + "." + domain + "/";
  std::string centre = std::string(kScheme) + domain + "/";
  std::string name_of_kind(kind_name(kind));
  switch (kind) {
    case IdentityKind::kRamdisk:
    case IdentityKind::kNodeTenant:
    case IdentityKind::kNode:
      return site_host + "node/" + node + "/" + std::to_string(generation) + "/" + name_of_kind +
             (kind == IdentityKind::kRamdisk ? "/" + run : "");
    case IdentityKind::kSiteAgent:
    case IdentityKind::kGateway:
      return site_host + name_of_kind;
    case IdentityKind::kCoordinator:
    case IdentityKind::kOperator:
      return centre + name_of_kind + "/" + name;
    case IdentityKind::kTenant:
      return centre + name_of_kind + "/" + tenant + "/" + name;
  }
  LEASEHOLD_CHECK(false, "unknown kind of identity");
  return "";
}

Result<Identity> Identity::parse(std::string_view uri, const std::string& domain) {
  Identity identity;
  identity.domain = domain;
  if (!read_uri(uri, identity)) {
    return Error(Code::kMalformed, "the URI is not an identity of " + domain);
  }
  return identity;
}

}  // namespace leasehold
