#include "agent/sync/answers.h"

namespace leasehold {

Result<Json> answer_of(const HttpResponse& response) {
  bool good = response.status / 100 == 2;
  if (good && response.body.empty()) return Json();
  Result<Json> body = parse_json(response.body, limits::kSyncAnswerBytes);
  if (good) return body;
  std::optional<Code> code =
      body.ok() ? code_from_name(json_text(body.value(), "code")) : std::nullopt;
  if (code.has_value()) {
    return Error(*code, "the coordinator: " + json_text(body.value(), "message"),
                 json_text(body.value(), "field"));
  }
  return Error(Code::kUnavailable,
               "the coordinator answered with status " + std::to_string(response.status));
}

}  // namespace leasehold
