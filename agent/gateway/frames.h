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

struct AgentFrame {
  enum class Type { kReply, kClose };
  Type type = Type::kClose;
  uint64_t connection = 0;
  int status = 0;    // kReply
  std::string body;  // kReply
};
// MALFORMED for anything but a reply or a close as specified.
Result<AgentFrame> parse_agent_frame(const std::string& text);

}  // namespace leasehold
