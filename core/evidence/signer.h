// Who signed an envelope: judges the chain beside it (core/tls judge) for a verb at an instant,
// then the signature with the leaf's key. The chain's text must be the one text of its
// certificates, so that nothing in a file can be changed unseen. No state, any thread; never reads
// the payload.
#pragma once

#include "core/evidence/dsse.h"
#include "core/evidence/refusal.h"
#include "core/tls/x509.h"

namespace leasehold {

// The judgement of an allowed chain whose leaf signed the envelope; or a refusal: chain-malformed,
// not-canonical, one per ChainRefusal (a tenant's leaf: tenant-may-not-attest), bad-signature.
Checked<Judgement> check_signer(const SignedEnvelope& signed_envelope, Verb verb,
                                const Anchors& anchors, int64_t instant_ms);

}  // namespace leasehold
