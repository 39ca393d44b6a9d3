#include "coordinator/api/takeover.h"

#include "coordinator/limits.h"
#include "core/base/clock.h"

namespace leasehold {

Status note_takeover(Sql& sql, const store::Site& site, const std::string& box, bool counted) {
  store::SiteBox boxes = TRY(store::site_box(sql, site.site));
  const bool elsewhere = !boxes.box.empty() && boxes.box != box;
  // A box runs one agent at a time: the one before it there has ended. Whoever waited for that one
  // has not acted.
  if (boxes.former_box == box && !counted) {
    boxes.former.clear();
  } else if ((elsewhere || counted) && boxes.former.empty()) {
    boxes.former = site.instance;
    boxes.former_box = counted ? "" : boxes.box;  // which of the two on it starts next is unknown
    boxes.former_heard_at_ms = site.contact_at_ms;
    boxes.former_until_ms = site.term_at_ms + limits::kAuthorityTermMs + limits::kFormerAgentMs;
  }
  boxes.box = box;
  return store::put_site_box(sql, boxes);
}

Result<std::optional<store::SiteBox>> former_agent(Sql& sql, const std::string& site,
                                                   int64_t now_ms) {
  store::SiteBox boxes = TRY(store::site_box(sql, site));
  if (boxes.former.empty() || now_ms >= boxes.former_until_ms)
    return std::optional<store::SiteBox>();
  return std::optional<store::SiteBox>(std::move(boxes));
}

Json former_json(const std::optional<store::SiteBox>& former) {
  if (!former.has_value()) return nullptr;
  return {{"heardAt", format_time(former->former_heard_at_ms)},
          {"until", format_time(former->former_until_ms)}};
}

Status former_stopped(Sql& sql, store::SiteBox former) {
  former.former.clear();
  return store::put_site_box(sql, former);
}

}  // namespace leasehold
