#include "agent/gateway/frames.h"

#include "core/base/bytes.h"
#include "core/base/json.h"
#include "core/base/limits.h"

namespace leasehold {

Result<std::string> open_frame(const ServerRequest& request) {
  Json chain = Json::array();
  size_t bytes = 0;
  for (const std::string& certificate : request.peer_chain_der) {
    bytes += certificate.size();
    chain.push_back(base64_encode(certificate));
  }
  if (bytes > limits::kGatewayChainBytes) {
    return Error(Code::kTooLarge, "the certificate chain is over " +
                                      std::to_string(limits::kGatewayChainBytes) + " bytes");
  }
  return dump_json({{"type", "open"},
                    {"conn", request.connection},
                    {"peer", request.peer_address},
                    {"chain", chain}});
}

Result<std::string> request_frame(const ServerRequest& request) {
  // Canonical, because that form refuses what is not UTF-8 where others would replace it.
  Result<std::string> frame = canonical_json({{"type", "request"},
                                              {"conn", request.connection},
                                              {"method", request.method},
                                              {"path", request.path},
                                              {"query", request.query},
                                              {"body", request.body}});
  if (!frame.ok()) return Error(Code::kInvalidInput, "the request is not UTF-8");
  if (frame.value().size() > limits::kGatewayFrameBytes) {
    return Error(Code::kTooLarge, "the request does not fit into " +
                                      std::to_string(limits::kGatewayFrameBytes) + " bytes");
  }
  return frame;
}

std::string close_frame(uint64_t connection) {
  return dump_json({{"type", "close"}, {"conn", connection}});
}

std::string renew_frame(const std::string& csr_pem) {
  return dump_json({{"type", "renew"}, {"csr", csr_pem}});
}

Result<AgentFrame> parse_agent_frame(const std::string& text) {
  const Json frame = TRY(parse_json(text, limits::kGatewayFrameBytes));
  const Error malformed(Code::kMalformed, "not a frame of the agent");
  if (json_text(frame, "type") == "certificate") {
    AgentFrame certificate;
    certificate.type = AgentFrame::Type::kCertificate;
    certificate.body = json_text(frame, "chain");
    if (certificate.body.empty() || certificate.body.size() > limits::kPemFileBytes) {
      return malformed;
    }
    return certificate;
  }
  const Json& connection = json_member(frame, "conn");
  if (!connection.is_number_unsigned()) return malformed;
  AgentFrame parsed;
  parsed.connection = connection.get<uint64_t>();
  const std::string type = json_text(frame, "type");
  if (type == "close") return parsed;
  const Json& status = json_member(frame, "status");
  const Json& body = json_member(frame, "body");
  if (type != "reply" || !status.is_number_integer() || !body.is_string()) return malformed;
  if (status < 200 || status > 599) return malformed;
  parsed.type = AgentFrame::Type::kReply;
  parsed.status = status.get<int>();
  parsed.body = body.get<std::string>();
  return parsed;
}

}  // namespace leasehold
