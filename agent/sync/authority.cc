#include "agent/sync/authority.h"

#include "core/db/row_store.h"
#include "core/rows/coordinator_rows.h"

namespace leasehold {

Status Authority::may_start(Sql& sql) const {
  if (standing_.superseded()) return Error(Code::kSuperseded, standing_.why());
  Json row = TRY(row_store::get(sql, "authority", AuthorityRow::kKey));
  if (row.is_null()) {
    return Error(Code::kAuthorityOver, "the coordinator has not granted this site a term yet");
  }
  Result<AuthorityRow> granted = AuthorityRow::parse(row);
  if (!granted.ok()) {
    return Error(Code::kAuthorityOver,
                 "the term that was granted cannot be read: " + granted.error().message);
  }
  int64_t ends_ms = granted.value().until_ms;
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
