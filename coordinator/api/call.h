// One call of the API as its handler sees it, and what a handler answers. A handler runs inside a
// transaction on the database's thread; it changes rows, says what it touched, and knows nothing of
// sockets. Values only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/context.h"
#include "core/base/json.h"
#include "core/db/database.h"
#include "core/tls/identity.h"

namespace leasehold {

struct Call {
  std::string method;
  std::string path;
  std::string query;
  std::vector<std::string> args;  // what the pattern's stars stand for
  Json body;
  std::string text_body;  // of a route that takes rows: not parsed
  bool known = false;     // a certificate was presented and judged
  Identity who;
  std::string serial;  // of that certificate, hex
  std::string instance;
  int64_t now_ms = 0;
  bool may_wait = false;  // a long poll that has time left

  // Filled by the handler.
  std::set<std::string> touched;   // topics to wake waiting calls for, once the commit is durable
  std::string detail;              // for the audit: what was overridden
  bool unaudited = false;          // its rows are their own record
  bool failure_unaudited = false;  // set by the API: too many strangers fail
  std::function<void()> after_commit;  // on the loop's thread

  std::string who_uri() const { return known ? who.uri() : ""; }
  std::string text(const std::string& name) const;
  // INVALID_INPUT naming the parameter.
  Result<int64_t> number(const std::string& name, int64_t fallback, int64_t most) const;
};

struct Reply {
  int status = 200;
  Json body;
  std::string bytes;  // instead of `body`, of `content_type`
  std::string content_type;
  std::string wait_for;  // a topic: nothing to say before it is touched
  // An error after which what the handler changed stays, as it is about the caller himself.
  std::optional<Error> refused;
};

inline Reply reply(Json body) { return Reply{200, std::move(body), "", "", "", {}}; }
inline Reply reply_bytes(std::string bytes, std::string content_type) {
  return Reply{200, {}, std::move(bytes), std::move(content_type), "", {}};
}
inline Reply reply_after(std::string topic) { return Reply{200, {}, "", "", std::move(topic), {}}; }

// A list's page: `limit` and `after` of the query.
struct Page {
  std::string after;
  int64_t limit = 0;
};
Result<Page> page_of(const Call& call);
// {"items", "next"}; `cursor` gives an item's own. One item more than the limit was asked for.
Json page_json(std::vector<Json> items, const Page& page,
               const std::function<std::string(const Json&)>& cursor);

}  // namespace leasehold
