#include "agent/command/timeline.h"

#include "agent/command/site_client.h"
#include "core/base/harmless.h"

namespace leasehold {
namespace {

constexpr size_t kStepWidth = 44;

std::string padded(std::string text) {
  text.append(text.size() < kStepWidth ? kStepWidth - text.size() : 1, ' ');
  return text;
}

std::string line_of(const Json& event) {
  std::string kind = json_text(event, "kind");
  std::string at = json_text(event, "at");
  std::string head =
      (at.size() > 11 ? at.substr(11, 12) : at) + "  " + json_text(event, "node") + "  ";
  std::string step = json_text(event, "group") + "  " + json_text(event, "place");
  if (kind == "run-started") {
    return head + json_text(event, "workflow") + "  " + json_text(event, "run");
  }
  if (kind == "done") {
    return head + padded(step) + "done    " + took_text(number_of(event, "tookMs"));
  }
  if (kind == "failed") return head + padded(step) + "FAILED  " + json_text(event, "detail");
  if (kind == "again") return head + step + "  again: " + json_text(event, "detail");
  if (kind == "finished") return head + "run " + json_text(event, "detail");
  return "";
}

}  // namespace

std::string took_text(int64_t ms) {
  if (ms < 1000) return std::to_string(ms) + " ms";
  return std::to_string(ms / 1000) + "." + std::to_string(ms % 1000 / 100) + " s";
}

std::string event_line(const Json& event) { return harmless(line_of(event)); }

bool is_success(const Json& finished_event) {
  return json_text(finished_event, "detail").rfind("succeeded", 0) == 0;
}

}  // namespace leasehold
