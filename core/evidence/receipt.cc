#include "core/evidence/receipt.h"

#include <algorithm>

#include "core/base/clock.h"
#include "core/evidence/signer.h"
#include "core/evidence/strict_object.h"

namespace leasehold {
namespace {

Json payload_of(const Receipt& receipt) {
  return {{"site", receipt.site},
          {"run", receipt.run},
          {"seq", receipt.seq},
          {"digest", receipt.digest},
          {"siteCas", receipt.site_cas},
          {"time", format_time(receipt.time_ms)},
          {"judgedAt", format_time(receipt.judged_at_ms)}};
}

bool is_digest(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Result<Receipt> parse_payload(const std::string& payload) {
  Json json = TRY(parse_json(payload, limits::kEvidenceBytes));
  StrictObject object(json, "receipt",
                      {"site", "run", "seq", "digest", "siteCas", "time", "judgedAt"});
  Receipt receipt;
  receipt.site = object.filled("site");
  receipt.run = object.filled("run");
  receipt.seq = object.count("seq");
  receipt.digest = object.digest("digest");
  receipt.site_cas = object.texts("siteCas");
  receipt.time_ms = object.time("time");
  receipt.judged_at_ms = object.time("judgedAt");
  if (!std::all_of(receipt.site_cas.begin(), receipt.site_cas.end(), is_digest)) {
    object.fail("siteCas", "holds what is no digest");
  }
  if (receipt.judged_at_ms > receipt.time_ms) object.fail("judgedAt", "is later than the time");
  TRY(object.status());
  std::string again = TRY(canonical_json(payload_of(receipt)));
  if (again != payload) return Error(Code::kMalformed, "its payload is not canonical");
  return receipt;
}

}  // namespace

Result<Json> sign_receipt(const std::string& private_key_pem, const std::string& chain_pem,
                          const Receipt& receipt) {
  std::string payload = TRY(canonical_json(payload_of(receipt)));
  SignedEnvelope made;
  made.envelope = TRY(dsse_sign(private_key_pem, kReceiptPayloadType, payload));
  made.chain_pem = TRY(split_chain(chain_pem));
  return made.to_json();
}

Checked<Receipt> check_receipt(const Json& json, const Anchors& anchors) {
  constexpr auto kUnreadable = EvidenceReason::kReceiptUnreadable;
  SignedEnvelope made = TRY_OR_REFUSE(SignedEnvelope::from_json(json), kUnreadable);
  if (made.envelope.payload_type != kReceiptPayloadType) {
    return EvidenceRefusal{kUnreadable, "its payload is of another type"};
  }
  Receipt receipt = TRY_OR_REFUSE(parse_payload(made.envelope.payload), kUnreadable);
  Checked<Judgement> signer = check_signer(made, Verb::kSignReceipt, anchors, receipt.time_ms);
  if (signer.ok()) return receipt;
  return EvidenceRefusal{EvidenceReason::kReceiptUntrusted, signer.error().text()};
}

}  // namespace leasehold
