// The ramdisk's side of the gateway's protocol (docs/protocols.md section 2): each function is one
// request and its answer, judged. Owned by main(), used by the main thread, blocks. It retries
// nothing; the token and the private key stay in its memory and leave it in no form but a MAC and a
// signature.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/result.h"
#include "core/evidence/statement.h"
#include "core/http/message.h"
#include "pxe/ramdisk/boot_facts.h"
#include "pxe/ramdisk/platform_clock.h"

namespace leasehold {

struct Command {
  int64_t n = 0;
  std::string id;
  std::string verb;
  std::string nonce;  // base64
  ResultContext context;
  Json args;
};

// Who the ramdisk is once it has joined.
struct RamdiskIdentity {
  std::string private_key_pem;
  std::vector<std::string> chain_pem;  // leaf first
  std::string boot_nonce;              // base64
};

class GatewayClient {
 public:
  GatewayClient(HttpClient& http, const BootFacts& facts, RunDocument document,
                PlatformClock& clock, Random& random);
  ~GatewayClient();

  // Checks the site agent's word and starts the clock with it. UNAVAILABLE, TIMEOUT: try again.
  // EVIDENCE_REFUSED, MALFORMED: somebody else answers.
  Status hello();
  // UNAVAILABLE, TIMEOUT: send it again, it is the same request. REFUSED: the token is not taken.
  Status join();
  // Waits for up to limits::kLongPollMs. Commands that are not for this run and boot are left out
  // and logged. `newest` becomes the highest number that was seen.
  Result<std::vector<Command>> commands(int64_t& newest);
  // The ramdisk lives and works on this command, or cannot do it. Any thread, once it has joined.
  Status telemetry(const std::string& command, const std::string& problem = {});
  // {"command", "envelope", "chain"} as text. REFUSED: the site has decided against it.
  Status post_result(const std::string& body);

  const RamdiskIdentity& identity() const { return identity_; }
  const RunDocument& document() const { return document_; }

 private:
  Result<Json> call(const std::string& method, const std::string& path, const std::string& body,
                    int64_t timeout_ms);
  HttpOptions options(int64_t timeout_ms);
  Status judge_gateway(const std::vector<std::string>& chain_der);
  Status check_hello(const Json& answer, const std::string& nonce);
  Result<Command> parse_command(const Json& json) const;

  HttpClient& http_;
  const BootFacts& facts_;
  RunDocument document_;
  PlatformClock& clock_;
  Random& random_;
  bool clock_started_ = false;
  std::string csr_pem_;
  RamdiskIdentity identity_;
};

}  // namespace leasehold
