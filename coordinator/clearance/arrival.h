// What the coordinator does with each row of a site's as it arrives, in the transaction that writes
// it: lists and events, the node's admin row, answers to works, and evidence to be judged. It never
// fails over what a row says: that is the site's word, to be shown or refused. Inside a
// transaction, on the database's thread.
#pragma once

#include <set>
#include <string>

#include "coordinator/context.h"
#include "core/db/database.h"
#include "core/rows/row.h"

namespace leasehold {

// Rows of one site, arriving.
struct Arrival {
  const CentreContext& context;
  std::string site;
  int64_t now_ms = 0;
  std::set<std::string>& touched;  // topics of waiting calls
};

Status row_arrived(Sql& sql, Arrival& arrival, const RowChange& change);

// The coordinator's own row that came back from a site after its database was restored: what it
// keeps beside the rows is made anew from them.
Status own_row_came_back(Sql& sql, Arrival& arrival, const RowChange& change);

// A work for a site, with what it is about as the coordinator knows it.
struct NewWork {
  std::string node;
  std::string kind;
  Json expects = Json::object();
  bool on = true;
  std::string reason;
  std::string by;
};
// Answers its id.
Result<std::string> add_work(Sql& sql, Arrival& arrival, const NewWork& work);

// An event of the coordinator's own about this site.
Status tell_event(Sql& sql, Arrival& arrival, const std::string& name, const std::string& node,
                  Json fields);

}  // namespace leasehold
