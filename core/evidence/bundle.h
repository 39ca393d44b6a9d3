// A bundle: the run evidence of one run and every result that it names, in one canonical file that
// anyone can check years later with a root certificate and an instant. verify_bundle is the site's
// gate to `ready` (law 1, no-dirty-ready), the coordinator's clearance and the offline verifier:
// one function. No state, any thread; never asks anyone, never reads a clock.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/evidence/receipt.h"
#include "core/evidence/result_verifier.h"
#include "core/evidence/run_evidence.h"

namespace leasehold {

struct Bundle {
  // The head repeats the run evidence, for whoever sorts files; it is compared.
  std::string site;
  std::string domain;
  std::string node;
  std::string lease;
  std::string run;
  SignedEnvelope evidence;
  std::vector<SignedEnvelope> results;  // in the order of the run evidence
  Json receipt;                         // null: none

  // Canonical JSON and one final newline.
  Result<std::string> text() const;
};
// The head is taken from `evidence`'s payload. MALFORMED if that is no run evidence.
Result<Bundle> make_bundle(SignedEnvelope evidence, std::vector<SignedEnvelope> results);
// Refuses malformed and not-canonical (any byte that text() would not write again).
Checked<Bundle> parse_bundle(std::string_view bytes);

struct VerifiedBundle {
  RunEvidence evidence;
  std::string digest;  // of the run evidence's envelope
  std::vector<VerifiedResult> results;
  Identity signer;  // the site-agent
  std::string signer_serial;
  std::optional<Receipt> receipt;  // that it was judged by

  const DiskWipeReport& wipe() const;        // of the last pass
  const DiagnosisReport& diagnosis() const;  // of the last pass
  const ResultHead& wipe_head() const;
  // Of the authorities that the results were judged by, each once.
  std::vector<std::string> site_cas() const;
};

enum class ReceiptRule { kRequired, kNotRequired };

// A file with a receipt is judged by what that says: its site CAs and its instant. One without, by
// `anchors` and `instant_ms`: when the file is known to have existed; the site: when it signed. The
// default of the rule is for the site and the coordinator, which hold their own record of when the
// evidence came.
Checked<VerifiedBundle> verify_bundle(std::string_view bytes, const Anchors& anchors,
                                      int64_t instant_ms,
                                      ReceiptRule rule = ReceiptRule::kNotRequired);

}  // namespace leasehold
