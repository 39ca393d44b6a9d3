#include "coordinator/api/call.h"

#include <charconv>

#include "coordinator/limits.h"
#include "core/loop/http_server.h"

namespace leasehold {

std::string Call::text(const std::string& name) const { return query_value(query, name); }

Result<int64_t> Call::number(const std::string& name, int64_t fallback, int64_t most) const {
  std::string given = text(name);
  if (given.empty()) return fallback;
  int64_t value = 0;
  auto [end, problem] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (problem != std::errc() || end != given.data() + given.size() || value < 0 || value > most) {
    return Error(Code::kInvalidInput,
                 "\"" + name + "\" is a whole number of 0 to " + std::to_string(most), name);
  }
  return value;
}

Result<Page> page_of(const Call& call) {
  Page page;
  page.after = call.text("after");
  page.limit = TRY(call.number("limit", limits::kListDefault, limits::kListMost));
  if (page.limit == 0) return Error(Code::kInvalidInput, "\"limit\" is 1 or more", "limit");
  return page;
}

Json page_json(std::vector<Json> items, const Page& page,
               const std::function<std::string(const Json&)>& cursor) {
  std::string next;
  if (static_cast<int64_t>(items.size()) > page.limit) {
    items.resize(static_cast<size_t>(page.limit));
    next = cursor(items.back());
  }
  return {{"items", std::move(items)}, {"next", next}};
}

}  // namespace leasehold
