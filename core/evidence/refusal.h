// Why evidence is refused: a closed list, each reason with its name and one line for the reader,
// and Checked<T>, a value or such a refusal. Unknown is never taken for clean: whatever cannot be
// shown has a reason here. Tests go over the list. Values only, any thread; never logs.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/result.h"

namespace leasehold {

// X(enumerator, name, what it means)
#define LEASEHOLD_EVIDENCE_REASONS_FORM(X)                                                       \
  X(kMalformed, "malformed",                                                                     \
    "The text is not of the form that docs/protocols.md section 4 gives.")                       \
  X(kNotCanonical, "not-canonical",                                                              \
    "The text is not the one canonical text of its content: it was changed or re-written.")      \
  X(kWrongPayloadType, "wrong-payload-type", "The signed payload is no in-toto Statement.")      \
  X(kWrongPredicate, "wrong-predicate", "The Statement is about something else than was asked.") \
  X(kBadSignature, "bad-signature", "The signature does not hold over the payload.")

#define LEASEHOLD_EVIDENCE_REASONS_SIGNER(X)                                                      \
  X(kChainMalformed, "chain-malformed",                                                           \
    "The certificate chain beside the envelope is unreadable.")                                   \
  X(kChainTooLong, "chain-too-long", "The certificate chain has more links than any of ours.")    \
  X(kUntrusted, "untrusted", "The chain does not lead to the given root.")                        \
  X(kExpired, "expired", "A certificate of the chain had ended at the instant judged for.")       \
  X(kNotYetValid, "not-yet-valid", "A certificate of the chain began after the instant.")         \
  X(kWrongIssuer, "wrong-issuer", "This kind of certificate may not come from that issuer.")      \
  X(kUnrecordedSiteCa, "unrecorded-site-ca", "The site CA of the chain is not the recorded one.") \
  X(kForeignSiteCa, "foreign-site-ca", "The certificate names a site that its CA is not for.")    \
  X(kBadUri, "bad-uri", "The certificate does not carry exactly one URI of our form.")            \
  X(kNotALeaf, "not-a-leaf", "Signed with a certificate authority, or with another form of key.") \
  X(kForbiddenName, "forbidden-name", "The certificate carries a name that its kind may not.")    \
  X(kKindMayNot, "kind-may-not", "A certificate of this kind may not sign this.")                 \
  X(kTenantMayNotAttest, "tenant-may-not-attest",                                                 \
    "Signed with a tenant's certificate: never counted, not even for its own machine.")           \
  X(kNotRamdisk, "not-ramdisk", "Signed by a platform identity, but not by this run's ramdisk.")

#define LEASEHOLD_EVIDENCE_REASONS_CONTEXT(X)                                                    \
  X(kWrongDomain, "wrong-domain", "Made for another domain.")                                    \
  X(kWrongSite, "wrong-site", "Made for another site.")                                          \
  X(kWrongNode, "wrong-node", "Made for another machine.")                                       \
  X(kWrongGeneration, "wrong-generation", "Made in another identity generation of the machine.") \
  X(kWrongLease, "wrong-lease", "Made for another lease.")                                       \
  X(kWrongRun, "wrong-run", "Made in another run.")                                              \
  X(kWrongPass, "wrong-pass", "Made in another pass of the run.")                                \
  X(kWrongPlace, "wrong-place", "Made for another step of the run.")                             \
  X(kWrongAttempt, "wrong-attempt", "Made in another attempt of the step.")                      \
  X(kWrongBootNonce, "wrong-boot-nonce", "Made by a ramdisk of another boot.")                   \
  X(kWrongBinding, "wrong-binding", "Bound to the machine in another way than recorded.")        \
  X(kBindingTooWeak, "binding-too-weak", "Bound to the machine more weakly than policy allows.") \
  X(kWrongImage, "wrong-image", "Made by another ramdisk image.")                                \
  X(kWrongPolicy, "wrong-policy", "Made under another revision of the pool's policy.")           \
  X(kWrongCommand, "wrong-command", "The answer to another command.")                            \
  X(kWrongNonce, "wrong-nonce", "Does not repeat the nonce of its command.")                     \
  X(kWrongTime, "wrong-time", "Its times contradict each other or lie in the future.")

#define LEASEHOLD_EVIDENCE_REASONS_DISK(X)                                                       \
  X(kEmptyManifest, "empty-manifest", "The manifest names no disk, so that no wipe is shown.")   \
  X(kWrongManifest, "wrong-manifest", "Made against another list of disks than the manifest.")   \
  X(kSubjectMismatch, "subject-mismatch", "The Statement's subjects are not what it is about.")  \
  X(kMissingDisk, "missing-disk", "A disk of the manifest was not there.")                       \
  X(kExtraDisk, "extra-disk", "A disk was there that the manifest does not name.")               \
  X(kChangedDisk, "changed-disk", "A disk with a known serial is not the disk of the manifest.") \
  X(kHiddenAreas, "hidden-areas", "A disk has, or may have, areas that were not wiped.")         \
  X(kNotErased, "not-erased", "No command that erases was run on a disk.")                       \
  X(kMethodTooWeak, "method-too-weak", "A disk was erased by a weaker method than policy asks.") \
  X(kUnknownErase, "unknown-erase",                                                              \
    "A command on a disk is none that is known to erase disks of its transport.")                \
  X(kCommandFailed, "command-failed", "A command on a disk ended with an error.")                \
  X(kNoMarkers, "no-markers",                                                                    \
    "No markers were written to a disk, so that read-back shows little.")                        \
  X(kMarkerSurvived, "marker-survived", "A marker written before the wipe is still on a disk.")  \
  X(kReadbackNotClean, "readback-not-clean", "What was read back from a disk is not blank.")     \
  X(kReadbackCached, "readback-cached", "A disk was not read back with direct I/O.")             \
  X(kReadbackInsufficient, "readback-insufficient", "Less was read back than policy asks.")      \
  X(kDiskNotPass, "disk-not-pass", "The ramdisk itself does not say PASS for a disk.")           \
  X(kVerdictNotPass, "verdict-not-pass", "The ramdisk itself does not say PASS for the wipe.")

#define LEASEHOLD_EVIDENCE_REASONS_GPU(X)                                                        \
  X(kWrongGpus, "wrong-gpus", "Made against another list of GPUs than expected.")                \
  X(kMissingGpu, "missing-gpu", "An expected GPU was not there.")                                \
  X(kExtraGpu, "extra-gpu", "A GPU was there that is not expected.")                             \
  X(kGpuEcc, "gpu-ecc", "A GPU has uncorrected memory errors.")                                  \
  X(kGpuTestNotPass, "gpu-test-not-pass", "A test was skipped, missing or not passed on a GPU.") \
  X(kDiagnosisTooWeak, "diagnosis-too-weak", "The diagnosis ran at a lower level than asked.")   \
  X(kDiagnosisNotPass, "diagnosis-not-pass", "The diagnosis as a whole did not pass.")

#define LEASEHOLD_EVIDENCE_REASONS_RUN(X)                                                         \
  X(kWrongWorkflow, "wrong-workflow", "A wipe counts only from a release or an enrolment.")       \
  X(kNoBaseline, "no-baseline", "The pool's policy has no firmware baseline to compare with.")    \
  X(kFirmwareDrift, "firmware-drift", "A component's firmware is not the baseline's.")            \
  X(kFirmwareUnknown, "firmware-unknown", "A component of the baseline shows no version.")        \
  X(kBrokenSequence, "broken-sequence", "The site's sequence number and former digest disagree.") \
  X(kMissingResult, "missing-result", "A result that the run names is not in the file.")          \
  X(kUnlistedResult, "unlisted-result", "A result is in the file that the run does not name.")    \
  X(kDuplicateResult, "duplicate-result", "A result, or a kind of result, is there twice.")       \
  X(kResultsOutOfOrder, "results-out-of-order", "The results are not in the order of the run.")   \
  X(kMissingWipe, "missing-wipe", "The last pass of the run has no disk wipe.")                   \
  X(kMissingDiagnosis, "missing-diagnosis", "The last pass of the run has no diagnosis.")         \
  X(kVerdictNotClean, "verdict-not-clean", "The site itself does not call the machine clean.")    \
  X(kNoReceipt, "no-receipt", "The file has no receipt of the coordinator.")                      \
  X(kReceiptUnreadable, "receipt-unreadable", "The file has a receipt that is not understood.")   \
  X(kReceiptUntrusted, "receipt-untrusted",                                                       \
    "The receipt is not signed by a coordinator under the given root.")                           \
  X(kReceiptMismatch, "receipt-mismatch", "The receipt is about other evidence than the file's.")

#define LEASEHOLD_EVIDENCE_REASONS(X)   \
  LEASEHOLD_EVIDENCE_REASONS_FORM(X)    \
  LEASEHOLD_EVIDENCE_REASONS_SIGNER(X)  \
  LEASEHOLD_EVIDENCE_REASONS_CONTEXT(X) \
  LEASEHOLD_EVIDENCE_REASONS_DISK(X)    \
  LEASEHOLD_EVIDENCE_REASONS_GPU(X) LEASEHOLD_EVIDENCE_REASONS_RUN(X)

enum class EvidenceReason {
#define LEASEHOLD_ENUM(enumerator, name, meaning) enumerator,
  LEASEHOLD_EVIDENCE_REASONS(LEASEHOLD_ENUM)
#undef LEASEHOLD_ENUM
};

std::string_view evidence_reason_name(EvidenceReason reason);
std::string_view evidence_reason_meaning(EvidenceReason reason);
const std::vector<EvidenceReason>& all_evidence_reasons();

struct EvidenceRefusal {
  EvidenceRefusal() = default;
  // A detail may quote what the other side sent: it is cut to limits::kEvidenceDetailBytes and made
  // harmless to a terminal.
  EvidenceRefusal(EvidenceReason why, const std::string& which);

  EvidenceReason reason = EvidenceReason::kMalformed;
  std::string detail;  // which disk, which member: for an operator

  // "missing-disk: serial S1".
  std::string text() const;
  // For callers that speak Result: EVIDENCE_REFUSED with text(), the reason's name as the field.
  Error to_error() const;
};

// A value, or why there is none. TRY (core/base/result.h) unwraps it too.
template <class T>
class [[nodiscard]] Checked {
 public:
  Checked(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT
  Checked(EvidenceRefusal refusal)
      : state_(std::in_place_index<1>, std::move(refusal)) {}  // NOLINT
  bool ok() const { return state_.index() == 0; }
  const T& value() const& { return std::get<0>(require_ok().state_); }
  T value() && { return std::get<0>(std::move(require_ok().state_)); }
  const EvidenceRefusal& error() const& { return std::get<1>(state_); }
  EvidenceRefusal error() && { return std::get<1>(std::move(state_)); }

 private:
  const Checked& require_ok() const {
    if (!ok()) check_failed(__FILE__, __LINE__, "ok()", std::get<1>(state_).text());
    return *this;
  }
  Checked& require_ok() {
    static_cast<const Checked*>(this)->require_ok();
    return *this;
  }
  std::variant<T, EvidenceRefusal> state_;
};

template <>
class [[nodiscard]] Checked<void> {
 public:
  Checked() = default;
  Checked(EvidenceRefusal refusal) : refusal_(std::move(refusal)), ok_(false) {}  // NOLINT
  bool ok() const { return ok_; }
  void value() const {
    if (!ok_) check_failed(__FILE__, __LINE__, "ok()", refusal_.text());
  }
  const EvidenceRefusal& error() const& { return refusal_; }
  EvidenceRefusal error() && { return std::move(refusal_); }

 private:
  EvidenceRefusal refusal_;
  bool ok_ = true;
};

// Unwraps a Result inside a function that returns Checked, refusing with `reason_`.
#define LEASEHOLD_TRY_OR_REFUSE(name, expression, reason)                             \
  ({                                                                                  \
    auto name = (expression);                                                         \
    if (!name.ok()) {                                                                 \
      return ::leasehold::EvidenceRefusal{(reason), std::move(name).error().message}; \
    }                                                                                 \
    std::move(name).value();                                                          \
  })
#define TRY_OR_REFUSE(expression, reason) \
  LEASEHOLD_TRY_OR_REFUSE(LEASEHOLD_TRY_NAME(__COUNTER__), expression, reason)

}  // namespace leasehold
