// The agent's local socket (docs/protocols.md section 5): rows in, status and evidence out, for the
// technician's command and, until there is a coordinator, for whoever tells the site what to do.
// The peer's uid is checked by the server. Loop thread; owned by main().
#pragma once

#include <deque>
#include <map>

#include "agent/engine/engine.h"
#include "agent/intake.h"
#include "core/loop/http_server.h"

namespace leasehold {

class SiteApi {
 public:
  struct Doors {
    std::function<bool()> gateway_connected;
    std::function<bool()> bootd_reachable;
    // Whether anything may be begun here now; asked before every POST.
    std::function<Status()> may_begin = [] { return Status(); };
    // How the site stands to its coordinator; null: there is none.
    std::function<Json()> centre = [] { return Json(); };
  };
  SiteApi(Loop& loop, Database& database, Engine& engine, const Tools& tools, Doors doors);

  void handle(const ServerRequest& request, Responder respond);
  void connection_closed(uint64_t connection);
  // Feeds the timeline.
  void run_event(const RunEvent& event);

 private:
  void post_rows(const ServerRequest& request, Responder respond);
  void post_enrolments(const ServerRequest& request, Responder respond);
  void post_node(const ServerRequest& request, Responder respond);
  void status(Responder respond);
  void one_row(const std::string& table, const std::string& key, Responder respond);
  void run_detail(const std::string& run, Responder respond);
  void evidence(const std::string& run, Responder respond);
  void timeline(const ServerRequest& request, Responder respond);
  void node_command(const std::string& node, Responder respond);
  // Runs `read` in a transaction and answers what it made.
  void answer_from(std::function<Result<Json>(Sql&)> read, Responder respond);
  Json timeline_after(int64_t after) const;

  struct Watcher {
    int64_t after = 0;
    Responder respond;
    uint64_t timer = 0;
  };

  Loop& loop_;
  Database& database_;
  Engine& engine_;
  const Tools& tools_;
  Doors doors_;
  Intake intake_;
  std::deque<Json> timeline_;
  int64_t timeline_count_ = 0;
  std::map<uint64_t, Watcher> watchers_;
};

}  // namespace leasehold
