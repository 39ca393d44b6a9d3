// The frames between leasehold-gateway and the agent (docs/protocols.md section 3) as text of JSON;
// the length prefix belongs to the socket. Values only, any thread.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/loop/http_server.h"

namespace leasehold {

// TOO_LARGE if the certificate chain is over limits::kGatewayChainBytes.
Result<std::string> open_frame(const ServerRequest& request);
// INVALID_INPUT if path, query or body are not UTF-8 (they could not be passed on unchanged);
// TOO_LARGE if the frame would be over limits::kGatewayFrameBytes.
Result<std::string> request_frame(const ServerRequest& request);
std::string close_frame(uint64_t connection);
// Asks for a renewed certificate for the key that the gateway has.
std::string renew_frame(const std::string& csr_pem);

struct AgentFrame {
  enum class Type { kReply, kClose, kCertificate };
  Type type = Type::kClose;
  uint64_t connection = 0;  // kReply, kClose
  int status = 0;           // kReply
  std::string body;         // kReply; kCertificate: the chain, PEM
};
// MALFORMED for anything but a reply, a close or a certificate as specified.
Result<AgentFrame> parse_agent_frame(const std::string& text);

}  // namespace leasehold
