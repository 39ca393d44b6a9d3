// What the coordinator keeps for people: the audit of each call, and the feed of events of all
// sites and of its own, both densely numbered in the transaction that they belong to. Inside a
// transaction, on the database's thread.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/db/database.h"

namespace leasehold::store {

struct AuditLine {
  int64_t n = 0;  // made by add_audit
  int64_t at_ms = 0;
  std::string who;  // an identity's URI, or "" for nobody known
  std::string method;
  std::string path;
  int64_t status = 0;
  std::string code;    // empty: it was done
  std::string detail;  // what an operator overrode, or empty
};
Status add_audit(Sql& sql, const AuditLine& line);
Result<std::vector<AuditLine>> audit_after(Sql& sql, int64_t n, int64_t limit);
Result<int64_t> newest_audit(Sql& sql);  // its number; 0: there is none

// `event` has "name" and "at"; "n", "site" and "node" are added when it is read.
Status add_event(Sql& sql, const std::string& site, const std::string& node, const Json& event);
struct EventQuery {
  int64_t after = 0;
  std::string site;  // empty: of all
  std::string node;
  int64_t limit = 0;
};
struct EventPage {
  std::vector<Json> events;
  int64_t next = 0;  // up to here everything that fits has been seen
};
Result<EventPage> events_after(Sql& sql, const EventQuery& query);
Result<int64_t> newest_event(Sql& sql);

}  // namespace leasehold::store
