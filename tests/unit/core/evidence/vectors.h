// Negative vectors: each changes one thing of a bundle that is otherwise good. bundle_test.cc runs
// them all and checks that every reason of the closed list is reached.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/support/evidence_fixture.h"

namespace leasehold::test {

// A bundle in the making and how it is judged. Starts good.
struct Case {
  RunParts run;
  Anchors anchors;
  int64_t instant_ms = kNow;
  ReceiptRule rule = ReceiptRule::kNotRequired;
  std::function<void(RunEvidence&)> edit;  // after the results are listed, before the signing
  std::function<void(Bundle&)> after;      // after the signing
  std::function<void(std::string&)> on_text;

  std::string text() const;
};
Case good_case(const Pki& pki);

struct Vector {
  EvidenceReason reason;
  const char* what;
  std::function<void(Case&)> change;
};

std::vector<Vector> form_vectors();
std::vector<Vector> signer_vectors();
std::vector<Vector> context_vectors();
std::vector<Vector> disk_vectors();
std::vector<Vector> gpu_vectors();
std::vector<Vector> run_vectors();

}  // namespace leasehold::test
