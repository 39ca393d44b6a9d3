#include "agent/sync/authority.h"

#include <algorithm>

#include "core/db/row_store.h"

namespace leasehold {

Status Authority::may_start(Sql& sql) const {
  int64_t ends_ms = 0;
  for (const Json& row : TRY(row_store::all(sql, "authority"))) {
    Result<int64_t> end = parse_time(json_text(row, "endsAt"));
    if (end.ok()) ends_ms = std::max(ends_ms, end.value());
  }
  if (ends_ms == 0) {
    return Error(Code::kAuthorityOver, "the coordinator has not granted this site a term yet");
  }
  std::optional<int64_t> now_ms = clock_.now_ms();
  if (!now_ms) {
    return Error(Code::kAuthorityOver,
                 "this box's clock cannot be trusted, so that the term until " +
                     format_time(ends_ms) + " may be over; set the clock or reach the coordinator");
  }
  if (*now_ms < ends_ms) return {};
  return Error(Code::kAuthorityOver,
               "the term that the coordinator granted ended at " + format_time(ends_ms));
}

}  // namespace leasehold
