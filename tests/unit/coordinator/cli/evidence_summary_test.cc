#include "coordinator/cli/evidence_summary.h"

#include <catch2/catch.hpp>

using namespace leasehold;

TEST_CASE("what a refusal quotes cannot write a line or an order to the terminal") {
  EvidenceRefusal refusal;
  refusal.reason = EvidenceReason::kMissingDisk;
  refusal.detail =
      "serial S1\nVERIFIED\xC2\x9B"
      "2J\xE2\x80\xAE";
  CHECK(refusal_summary(refusal).find("serial S1?VERIFIED?2J?\n") != std::string::npos);
  std::string json = refusal_summary_json(refusal);
  CHECK(json.find("\\u202e") != std::string::npos);
  CHECK(json.find("\xC2\x9B") == std::string::npos);
}
