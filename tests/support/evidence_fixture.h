// Evidence for tests: a certificate authority of every level, a machine with two disks and two
// GPUs, and everything that a clean release of it signs. A test edits the parts, has them signed
// again and looks at what the verifier says. Linked as `test_support`; built fresh by each test,
// one thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/evidence/bundle.h"
#include "core/tls/crypto.h"

namespace leasehold::test {

inline constexpr int64_t kNow = 1'795'953'600'000;  // 2026-11-29T12:00:00Z
inline constexpr int64_t kHour = 3'600'000;

// A key and its certificate's chain (leaf, authorities, no root).
struct Signer {
  KeyPair key;
  std::vector<std::string> chain_pem;
};

struct Pki {
  CaKey root, issuing, site_ca;  // of domain example.net, site s1
  std::string site_ca_sha256;

  // A fresh key under the authority that the matrix gives to its kind; valid a day around kNow.
  Signer sign_in(const Identity& identity) const;
  Signer sign_in(const Identity& identity, const CaKey& issuer, const Validity& validity) const;
  Anchors anchors() const;
};
Pki make_pki();
Validity around_now(int64_t before_ms, int64_t after_ms);

Identity ramdisk_identity();  // of site s1, node n1, generation 4, run r-1
Identity site_agent_identity();
Identity node_identity(IdentityKind kind);  // kNode or kNodeTenant of the same machine

// One result before it is signed.
struct ResultParts {
  ResultKind kind = ResultKind::kDiskWipe;
  ResultHead head;
  Json body;
  std::vector<Subject> subjects;
  Signer signer;
};

// A clean release, before it is signed.
struct RunParts {
  Pki pki;
  RunEvidence evidence;  // its `results` are filled in when it is signed
  ResultParts inventory, wipe, diagnosis;
  Signer agent;

  // The typed body, and back.
  DiskWipeReport wipe_report() const;
  void set_wipe_report(const DiskWipeReport& report);
  DiagnosisReport diagnosis_report() const;
  void set_diagnosis_report(const DiagnosisReport& report);
  // What the agent expects of a part.
  Expectation expectation(const ResultParts& part) const;
};
DiskManifest make_manifest();
RunParts make_run(const Pki& pki);

SignedEnvelope sign_part(const ResultParts& part);
EvidenceResult listed(const ResultParts& part, const SignedEnvelope& envelope);
// Signs the run evidence as it stands.
SignedEnvelope sign_evidence(const RunParts& run);
// Signs the three results, lists them, lets `edit` change the evidence, signs it.
Bundle sign_bundle(RunParts run, const std::function<void(RunEvidence&)>& edit = {});
// The text of a good bundle.
std::string good_bundle(const Pki& pki);

Identity coordinator_identity();
// What a coordinator says of this bundle: it came an hour after it was judged for.
Receipt make_receipt(const Pki& pki, const Bundle& bundle);
Json signed_receipt(const Pki& pki, const Receipt& receipt,
                    const Identity& signer = coordinator_identity());

// A leaf that our issuer would never make, for tests of refusals.
struct RogueLeaf {
  std::vector<std::string> uris;
  std::vector<std::string> dns_names;
  bool is_ca = false;
};
Signer sign_in_rogue(const CaKey& issuer, const RogueLeaf& leaf);

}  // namespace leasehold::test
