// What machines may ask, decided: hello, join, commands, results (docs/protocols.md section 2).
// Each request is judged against the rows as they are in its transaction, not only at the
// handshake: the generation row is the revocation list. Loop thread; decisions run on the
// database's thread. Owns nothing but the long polls that wait.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/engine/engine.h"
#include "agent/store.h"
#include "agent/tools.h"
#include "core/http/message.h"
#include "core/loop/loop.h"

namespace leasehold {

struct MachineRequest {
  uint64_t connection = 0;
  std::string peer;
  std::vector<std::string> chain_der;  // of the client certificate; may be empty
  std::string method;
  std::string path;
  std::string query;
  std::string body;
};

class MachineDoor {
 public:
  using Reply = std::function<void(HttpResponse)>;

  MachineDoor(Loop& loop, Database& database, Engine& engine, const Tools& tools);
  MachineDoor(const MachineDoor&) = delete;
  MachineDoor& operator=(const MachineDoor&) = delete;

  void handle(const MachineRequest& request, Reply reply);
  // From now on every request is asked this first, and refused with its error.
  void ask_first(std::function<Status()> may_begin) { may_begin_ = std::move(may_begin); }
  void connection_closed(uint64_t connection);
  // Commands of this node were committed: waiting polls look again.
  void commands_changed(const std::string& node);

 private:
  struct WaitingPoll {
    MachineRequest request;
    Reply reply;
    std::string node;
    uint64_t timer = 0;
  };
  void hello(const MachineRequest& request, const Reply& reply);
  void join(const MachineRequest& request, Reply reply);
  void commands(const MachineRequest& request, Reply reply, bool may_wait);
  void result(const MachineRequest& request, Reply reply);
  void telemetry(const MachineRequest& request, Reply reply);
  void park(const MachineRequest& request, Reply reply, const std::string& node);
  void wake(const RunId& run);

  Loop& loop_;
  Database& database_;
  Engine& engine_;
  const Tools& tools_;
  std::map<uint64_t, WaitingPoll> waiting_;
  std::function<Status()> may_begin_ = [] { return Status(); };
};

}  // namespace leasehold
