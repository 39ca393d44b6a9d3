#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "coordinator/cli/ca_init.h"
#include "core/base/files.h"
#include "core/base/ids.h"
#include "core/base/json.h"
#include "core/tls/crypto.h"
#include "core/tls/x509.h"

namespace leasehold {
namespace {

constexpr int64_t kDayMs = 24LL * 3600 * 1000;
constexpr int64_t kRootLifeMs = 3650 * kDayMs;
constexpr int64_t kIssuingLifeMs = 730 * kDayMs;
constexpr int64_t kSiteLifeMs = 90 * kDayMs;
constexpr int64_t kLeafLifeMs = 45 * kDayMs;
// Clocks of two machines differ a little.
constexpr int64_t kBackdatedMs = 5 * 60 * 1000;

constexpr mode_t kSecretMode = 0600;
constexpr mode_t kPublicMode = 0644;

struct OutFile {
  std::string name;
  std::string content;
  mode_t mode;
};

class Authority {
 public:
  Authority(const CaInitOptions& options, int64_t now_ms) : options_(options), now_ms_(now_ms) {}

  // Every file of the folder.
  Result<std::vector<OutFile>> make() {
    const std::string& domain = options_.domain;
    CaKey root = TRY(issue_root(domain, lasting(kRootLifeMs)));
    CaKey issuing = TRY(issue_issuing_ca(root, domain, lasting(kIssuingLifeMs)));
    CaKey site = TRY(issue_site_ca(issuing, options_.site, domain, lasting(kSiteLifeMs)));
    add_pair("root", root.certificate_pem, root.private_key_pem);
    add_pair("issuing", issuing.certificate_pem, issuing.private_key_pem);
    add_pair("site-ca", site.certificate_pem + site.chain_above_pem, site.private_key_pem);
    TRY(add_leaves(issuing));
    Json recorded = {{options_.site, {TRY(certificate_sha256(site.certificate_pem))}}};
    files_.push_back({"site-cas.json", dump_json_pretty(recorded) + "\n", kPublicMode});
    return std::move(files_);
  }

 private:
  Validity lasting(int64_t life_ms) const { return {now_ms_ - kBackdatedMs, now_ms_ + life_ms}; }

  void add_pair(const std::string& name, const std::string& pem, const std::string& key) {
    files_.push_back({name + ".pem", pem, kPublicMode});
    files_.push_back({name + ".key", key, kSecretMode});
  }

  Status add_leaves(const CaKey& issuing) {
    LeafRequest agent;
    agent.identity.kind = IdentityKind::kSiteAgent;
    agent.identity.site = options_.site;
    TRY(add_leaf(issuing, "site-agent", agent));
    LeafRequest gateway;
    gateway.identity.kind = IdentityKind::kGateway;
    gateway.identity.site = options_.site;
    gateway.dns_names = options_.gateway_dns;
    if (gateway.dns_names.empty()) {
      gateway.dns_names = {"gateway." + options_.site + "." + options_.domain};
    }
    gateway.ip_addresses = options_.gateway_ips;
    TRY(add_leaf(issuing, "gateway", gateway));
    LeafRequest coordinator;
    coordinator.identity.kind = IdentityKind::kCoordinator;
    coordinator.identity.name = "coordinator";
    coordinator.dns_names = options_.coordinator_dns;
    if (coordinator.dns_names.empty()) coordinator.dns_names = {"coordinator." + options_.domain};
    coordinator.ip_addresses = options_.coordinator_ips;
    TRY(add_leaf(issuing, "coordinator", coordinator));
    LeafRequest first_operator;
    first_operator.identity.kind = IdentityKind::kOperator;
    first_operator.identity.name = options_.operator_name;
    return add_leaf(issuing, "operator", first_operator);
  }

  Status add_leaf(const CaKey& issuing, const std::string& name, LeafRequest request) {
    KeyPair key = generate_key();
    request.identity.domain = options_.domain;
    request.csr_pem = TRY(make_csr(key.private_key_pem));
    request.validity = lasting(kLeafLifeMs);
    add_pair(name, TRY(issue_leaf(issuing, request)), key.private_key_pem);
    return {};
  }

  const CaInitOptions& options_;
  int64_t now_ms_;
  std::vector<OutFile> files_;
};

Error system_error(const std::string& what, int number) {
  return Error(Code::kIo, what + ": " + std::strerror(number));
}

// Writes everything into `temporary`, then gives it its name in one step. rename(2) takes an empty
// folder's place and no other's, so nothing is overwritten, whoever else is at work.
Status publish(const std::vector<OutFile>& files, const std::string& temporary,
               const std::string& out) {
  for (const OutFile& file : files) {
    TRY(write_file_atomic(temporary + "/" + file.name, file.content, file.mode));
  }
  if (::rename(temporary.c_str(), out.c_str()) != 0) {
    int number = errno;
    if (number == ENOTEMPTY || number == EEXIST || number == ENOTDIR) {
      return Error(Code::kConflict, out +
                                        " is not empty and may hold a certificate authority, "
                                        "which is never overwritten; name another folder");
    }
    return system_error("cannot rename to " + out, number);
  }
  std::string parent = std::filesystem::path(out).parent_path().string();
  FileDescriptor folder(::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_CLOEXEC));
  if (!folder.valid() || ::fsync(folder.get()) != 0) {
    return system_error("cannot sync the folder above " + out, errno);
  }
  return {};
}

// Before any key is made, so that the usual mistake is told at once.
Status check_free(const std::string& out) {
  std::error_code problem;
  bool exists = std::filesystem::exists(out, problem);
  if (!problem && exists && !std::filesystem::is_empty(out, problem)) {
    return Error(Code::kConflict, out +
                                      " is not empty and may hold a certificate authority, "
                                      "which is never overwritten; name another folder");
  }
  if (problem) return Error(Code::kIo, "cannot look at " + out + ": " + problem.message());
  return {};
}

}  // namespace

Status ca_init(const CaInitOptions& options, Clock& clock, Random& random) {
  TRY(SiteId::parse(options.site, "--site"));
  if (!is_valid_id(options.operator_name)) {
    return Error(Code::kInvalidInput, "an operator's name is 1 to 63 of a-z, 0-9 and '-'",
                 "--operator");
  }
  std::filesystem::path folder = std::filesystem::path(options.out).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // a slash at the end
  std::string out = folder.string();
  if (out.empty()) return Error(Code::kInvalidInput, "name the folder to make", "--out");
  TRY(check_free(out));
  std::vector<OutFile> files = TRY(Authority(options, clock.now_ms()).make());
  std::string temporary = random_id(random, out + ".new");
  if (::mkdir(temporary.c_str(), 0700) != 0) {
    int number = errno;
    return system_error(
        "cannot create " + out + " (the folder above it must exist and be writable)", number);
  }
  Status published = publish(files, temporary, out);
  std::error_code ignored;
  if (!published.ok()) std::filesystem::remove_all(temporary, ignored);
  return published;
}

}  // namespace leasehold
