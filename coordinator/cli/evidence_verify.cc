#include "coordinator/cli/evidence_verify.h"

#include <cctype>

#include "coordinator/cli/client_config.h"
#include "coordinator/cli/evidence_summary.h"
#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/files.h"

namespace leasehold {
namespace {

// Hex as we write it; openssl's form with colons and capitals is understood too.
Result<std::string> parse_site_ca(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c != ':') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (out.size() == 64 && hex_decode(out).ok()) return out;
  return Error(Code::kInvalidInput,
               "the site CA's SHA-256 is 64 hex digits; see: openssl x509 -in site-ca.pem "
               "-noout -fingerprint -sha256",
               "--site-ca");
}

Result<int64_t> parse_instant(std::string text) {
  if (text.find('.') == std::string::npos && text.ends_with("Z")) {
    text.replace(text.size() - 1, 1, ".000Z");
  }
  auto instant = parse_time(text);
  if (instant.ok()) return instant;
  return Error(Code::kInvalidInput, "a time in UTC is needed, as 2026-11-29T16:31:21Z", "--at");
}

Result<JudgedBy> parse_judged_by(const EvidenceVerifyOptions& options) {
  if (!options.unreceipted) {
    if (options.site_ca.empty() && options.at.empty()) return JudgedBy{};
    return Error(Code::kInvalidInput, "--site-ca and --at are for a file without a receipt",
                 "--unreceipted");
  }
  if (options.site_ca.empty() || options.at.empty()) {
    return Error(Code::kInvalidInput,
                 "--unreceipted needs --site-ca and --at: what no coordinator "
                 "vouches for, you must know",
                 options.at.empty() ? "--at" : "--site-ca");
  }
  JudgedBy by;
  by.site_ca_sha256 = TRY(parse_site_ca(options.site_ca));
  by.instant_ms = TRY(parse_instant(options.at));
  return by;
}

Checked<VerifiedBundle> verify(const std::string& bytes, Anchors anchors, const JudgedBy& by,
                               ReceiptRule rule) {
  // The file says of which site it is; the reader says which CA that site had. Both are compared
  // with what is signed.
  Bundle bundle = TRY(parse_bundle(bytes));
  anchors.site_cas = {{bundle.site, by.site_ca_sha256}};
  return verify_bundle(bytes, anchors, by.instant_ms, rule);
}

// --root and --domain, or else what the configuration says.
Result<TrustConfig> trust_of(const EvidenceVerifyOptions& options) {
  if (!options.root_file.empty() && !options.domain.empty()) {
    return TrustConfig{options.root_file, options.domain};
  }
  Result<TrustConfig> trust = read_trust_config(client_config_path(options.config_file));
  if (!trust.ok()) {
    return Error(Code::kInvalidInput,
                 "say by which root and domain to judge it: --root and --domain, or a "
                 "configuration (" +
                     trust.error().message + ")",
                 options.root_file.empty() ? "--root" : "--domain");
  }
  if (!options.root_file.empty()) trust.value().root_file = options.root_file;
  if (!options.domain.empty()) trust.value().domain = options.domain;
  return trust;
}

}  // namespace

Result<EvidenceVerdict> evidence_verify(const EvidenceVerifyOptions& options) {
  JudgedBy by = TRY(parse_judged_by(options));
  const TrustConfig trust = TRY(trust_of(options));
  std::string root = TRY(read_file(trust.root_file, limits::kPemFileBytes));
  Anchors anchors{std::move(root), trust.domain, {}};
  std::string bytes = TRY(read_file(options.file, limits::kEvidenceBytes));
  ReceiptRule rule = options.unreceipted ? ReceiptRule::kNotRequired : ReceiptRule::kRequired;
  auto verified = verify(bytes, anchors, by, rule);
  if (!verified.ok()) {
    const EvidenceRefusal& refusal = verified.error();
    return EvidenceVerdict{false,
                           options.json ? refusal_summary_json(refusal) : refusal_summary(refusal)};
  }
  const VerifiedBundle& bundle = verified.value();
  return EvidenceVerdict{
      true, options.json ? evidence_summary_json(bundle, by) : evidence_summary(bundle, by)};
}

}  // namespace leasehold
