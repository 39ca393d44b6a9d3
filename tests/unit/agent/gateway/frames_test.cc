#include "agent/gateway/frames.h"

#include <catch2/catch.hpp>

#include "core/base/json.h"
#include "core/base/limits.h"

namespace leasehold {
namespace {

ServerRequest a_request() {
  ServerRequest request;
  request.connection = 7;
  request.method = "POST";
  request.path = "/v1/join";
  request.query = "after=3";
  request.body = R"({"run":"r-1"})";
  request.peer_address = "10.0.0.9";
  return request;
}

TEST_CASE("open and close frames are as specified") {
  ServerRequest request = a_request();
  CHECK(parse_json(open_frame(request).value()).value() ==
        Json{{"type", "open"}, {"conn", 7}, {"peer", "10.0.0.9"}, {"chain", Json::array()}});
  request.peer_chain_der = {"leaf", "ca"};
  CHECK(parse_json(open_frame(request).value()).value()["chain"] == Json{"bGVhZg==", "Y2E="});
  CHECK(parse_json(close_frame(7)).value() == Json{{"type", "close"}, {"conn", 7}});
}

TEST_CASE("a certificate chain is bounded") {
  ServerRequest request = a_request();
  request.peer_chain_der = {std::string(limits::kGatewayChainBytes, 'x')};
  CHECK(open_frame(request).ok());
  request.peer_chain_der.push_back("x");
  CHECK(open_frame(request).error().code == Code::kTooLarge);
}

TEST_CASE("a request frame carries the body unchanged") {
  ServerRequest request = a_request();
  request.body = "{\"a\":\"\\u0000 \xc3\xa4\"}\n";
  Json frame = parse_json(request_frame(request).value()).value();
  CHECK(frame == Json{{"type", "request"},
                      {"conn", 7},
                      {"method", "POST"},
                      {"path", "/v1/join"},
                      {"query", "after=3"},
                      {"body", request.body}});
}

TEST_CASE("what is not UTF-8 or too large is refused") {
  ServerRequest request = a_request();
  request.body = "\xff";
  CHECK(request_frame(request).error().code == Code::kInvalidInput);
  request.body = "";
  request.path = "/v1/\xc3";
  CHECK(request_frame(request).error().code == Code::kInvalidInput);
  request = a_request();
  request.body = std::string(limits::kGatewayBodyBytes, 'a');
  CHECK(request_frame(request).ok());
  // Six bytes of JSON for each of these.
  request.body = std::string(limits::kGatewayFrameBytes / 6 + 1, '\x01');
  CHECK(request_frame(request).error().code == Code::kTooLarge);
}

TEST_CASE("the agent's frames are read strictly") {
  AgentFrame reply =
      parse_agent_frame(R"({"type":"reply","conn":7,"status":403,"body":"{}","later":1})").value();
  CHECK(reply.type == AgentFrame::Type::kReply);
  CHECK(reply.connection == 7);
  CHECK(reply.status == 403);
  CHECK(reply.body == "{}");
  CHECK(parse_agent_frame(R"({"type":"close","conn":7})").value().type == AgentFrame::Type::kClose);
  for (const char* wrong : {"", "[]", R"({"type":"close"})", R"({"type":"close","conn":-1})",
                            R"({"type":"close","conn":"7"})", R"({"type":"open","conn":7})",
                            R"({"type":"reply","conn":7,"status":200})",
                            R"({"type":"reply","conn":7,"status":"200","body":""})",
                            R"({"type":"reply","conn":7,"status":99,"body":""})",
                            R"({"type":"reply","conn":7,"status":600,"body":""})",
                            R"({"type":"reply","conn":7,"status":200,"body":{}})"}) {
    INFO(wrong);
    CHECK(parse_agent_frame(wrong).error().code == Code::kMalformed);
  }
}

}  // namespace
}  // namespace leasehold
