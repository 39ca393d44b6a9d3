#include "coordinator/cli/evidence_command.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdio>
#include <memory>

#include "coordinator/cli/command.h"
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

void run(const EvidenceVerifyOptions& options) {
  auto verdict = evidence_verify(options);
  if (!verdict.ok()) return finish_command(verdict.error());
  std::fputs(verdict.value().text.c_str(), stdout);
  if (!verdict.value().verified) throw CLI::RuntimeError(kExitRefused);
}

}  // namespace

Result<EvidenceVerdict> evidence_verify(const EvidenceVerifyOptions& options) {
  JudgedBy by = TRY(parse_judged_by(options));
  Anchors anchors{TRY(read_file(options.root_file, limits::kPemFileBytes)), options.domain, {}};
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

void add_evidence_command(CLI::App& app) {
  CLI::App* noun = app.add_subcommand("evidence", "evidence of teardowns, offline");
  noun->require_subcommand(1);
  CLI::App* verb = noun->add_subcommand("verify", "check an evidence file");
  // Shared with the callback, which outlives this function.
  auto options = std::make_shared<EvidenceVerifyOptions>();
  verb->add_option("FILE", options->file, "the evidence bundle")->required();
  verb->add_option("--root", options->root_file, "root.pem of the domain")->required();
  verb->add_option("--domain", options->domain, "domain of all identities, as example.net")
      ->required();
  verb->add_flag("--unreceipted", options->unreceipted,
                 "the file has no receipt: judge it by --site-ca and --at");
  verb->add_option("--site-ca", options->site_ca, "SHA-256 of the site CA's certificate, in hex");
  verb->add_option("--at", options->at, "when the file is known to have existed, in UTC");
  verb->add_flag("--json", options->json, "print JSON");
  verb->callback([options] { run(*options); });
}

}  // namespace leasehold
