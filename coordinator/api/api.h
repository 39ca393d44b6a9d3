// The coordinator's door: judges who calls (core/tls, at every request), runs the handler in one
// transaction together with the call's audit line, and answers once that is durable. Calls that
// wait for news are parked, and looked at again when what they wait for was touched. Loop's thread
// only; owned by main(), destroyed after the database.
#pragma once

#include <map>
#include <memory>

#include "coordinator/api/routes.h"
#include "core/loop/http_server.h"
#include "core/tls/x509.h"

namespace leasehold {

class Api {
 public:
  Api(Loop& loop, Database& database, const CentreContext& context);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // Reads what judging needs; before serving.
  Status start();
  void handle(const ServerRequest& request, Responder respond);
  void connection_closed(uint64_t connection);
  // Wakes whoever waits for this topic.
  void touch(const std::string& topic);

 private:
  struct Pending {  // one request until it is answered
    const Route* route = nullptr;
    Call call;
    Responder respond;
    uint64_t connection = 0;
    int64_t wait_until_ms = 0;  // of the monotonic clock
    std::string topic;          // while it is parked
    uint64_t timer = 0;
  };
  using PendingPtr = std::shared_ptr<Pending>;  // goes to the database's thread and back
  struct Outcome {
    Reply reply;
    Status status;
  };

  Status judge_caller(const ServerRequest& request, const Route& route, Call& call) const;
  Status read_request(const ServerRequest& request, Pending& pending) const;
  void refuse(const PendingPtr& pending, const Error& error);
  void run(const PendingPtr& pending);
  void finished(const PendingPtr& pending, const Outcome& outcome);
  void answer(const PendingPtr& pending, const Outcome& outcome);
  void park(const PendingPtr& pending, const std::string& topic);
  bool may_audit_stranger();
  PendingPtr take_parked(uint64_t connection);
  void wake(uint64_t connection);
  void reload_site_cas();

  Loop& loop_;
  Database& database_;
  const CentreContext context_;
  const std::vector<Route> routes_;
  Anchors anchors_;
  int64_t strangers_minute_ = 0;
  int64_t strangers_ = 0;                         // whose failed calls were audited in that minute
  std::map<uint64_t, PendingPtr> parked_;         // by connection, which has one request at a time
  std::multimap<std::string, uint64_t> waiting_;  // topic -> connection
};

// Who and whence, for people: the audit's line of a call.
Status audit_call(Sql& sql, const Call& call, int status, const std::string& code);

}  // namespace leasehold
