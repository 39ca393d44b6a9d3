// The coordinator's signed answer to run evidence that it accepted: which evidence of which site
// arrived when, and by which site CAs and at which instant it was judged. Whoever has the root then
// needs nothing else to check the file. DSSE by the coordinator, its chain beside it. Values only,
// any thread; never reads a clock.
#pragma once

#include <string>
#include <vector>

#include "core/evidence/dsse.h"
#include "core/evidence/refusal.h"
#include "core/tls/x509.h"

namespace leasehold {

inline constexpr std::string_view kReceiptPayloadType = "application/vnd.leasehold.receipt+json";

struct Receipt {
  std::string site;
  std::string run;
  int64_t seq = 0;
  std::string digest;                 // of the run evidence's envelope, hex
  std::vector<std::string> site_cas;  // SHA-256 in hex: those that the results were judged by
  int64_t time_ms = 0;                // when the evidence had arrived, by the coordinator's clock
  // The instant that its certificates were judged for: a machine is given back while its site is
  // cut off, and a ramdisk's certificate is short-lived.
  int64_t judged_at_ms = 0;

  bool operator==(const Receipt&) const = default;
};

// What stands in a bundle under "receipt".
Result<Json> sign_receipt(const std::string& private_key_pem, const std::string& chain_pem,
                          const Receipt& receipt);

// Refuses receipt-unreadable (its form), and receipt-untrusted: not signed by a coordinator under
// this root, or after its time. Whether it is about a certain evidence is for the caller.
Checked<Receipt> check_receipt(const Json& json, const Anchors& anchors);

}  // namespace leasehold
