// How sites look in answers, and what a site's agent is told of its own. Inside a transaction.
#pragma once

#include "coordinator/api/call.h"
#include "coordinator/store/sites.h"

namespace leasehold {

Result<Json> site_json(Sql& sql, const store::Site& site, int64_t now_ms);
// {"code","message"} of what needs a hand, or null.
Result<Json> alarm_json(Sql& sql, const store::Site& site, int64_t now_ms);
// {"s1": ["<sha256>", ...]}: the site's recorded CAs, as agents keep them.
Result<Json> recorded_cas_json(Sql& sql, const std::string& site);
// An event of the coordinator's own.
Status own_event(Sql& sql, Call& call, const std::string& name, const std::string& site,
                 const std::string& node, Json fields);
// The site of the agent that calls: NOT_FOUND, or SUPERSEDED if its certificate is of a former
// enrolment.
Result<store::Site> calling_site(Sql& sql, const Call& call);

}  // namespace leasehold
