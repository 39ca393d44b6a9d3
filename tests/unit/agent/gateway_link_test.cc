#include "agent/gateway_link.h"

#include <catch2/catch.hpp>

#include "core/base/limits.h"

using namespace leasehold;

TEST_CASE("an answer that fits into no frame is a small 500 to its own connection") {
  HttpResponse response;
  response.status = 200;
  response.body = R"({"commands":[]})";
  CHECK(parse_json(reply_frame(7, response)).value() ==
        Json{{"type", "reply"}, {"conn", 7}, {"status", 200}, {"body", response.body}});
  // Within the bound by itself, and twice as long as text of JSON.
  response.body = std::string(limits::kGatewayFrameBytes * 3 / 4, '"');
  std::string frame = reply_frame(7, response);
  CHECK(frame.size() < 1024);
  Json reply = parse_json(frame).value();
  CHECK(reply["status"] == 500);
  CHECK(reply["conn"] == 7);
  CHECK(json_text(parse_json(json_text(reply, "body")).value(), "code") == "INTERNAL");
}
