#include "coordinator/store/starts.h"

#include "coordinator/limits.h"
#include "coordinator/store/sites.h"
#include "core/base/log.h"
#include "core/sync/meet.h"

namespace leasehold::store {

Result<int64_t> starts(Sql& sql) {
  int64_t value = 0;
  TRY(sql.query("SELECT value FROM coordinator_state WHERE name='starts'", {},
                [&](const SqlRow& row) { value = row.integer(0); }));
  return value;
}

Status put_starts(Sql& sql, int64_t starts) {
  return sql.run("INSERT OR REPLACE INTO coordinator_state(name, value) VALUES('starts', ?1)",
                 {starts});
}

Status all_sites_restored(Sql& sql) {
  log_line(LogEvent::kSiteRestored,
           {{"message",
             "the coordinator's database is a backup or a copy: what it sends to a site "
             "is compared with the site's copy before anything is added"}});
  std::string after;
  while (true) {
    std::vector<Site> sites = TRY(list_sites(sql, after, limits::kListMost));
    for (const Site& site : sites) {
      after = site.site;
      if (site.enrolment == 0) continue;
      TRY(sync::found_restored(sql, sync::End::of_coordinator(site.site)));
    }
    if (sites.size() < static_cast<size_t>(limits::kListMost)) return {};
  }
}

}  // namespace leasehold::store
